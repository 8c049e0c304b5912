package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"signalbox/internal/redact"
)

const (
	canary    = `s3cr3t/"<canary>&+ütoken~0123456789`
	multiline = "first line of the secret\nsecond line of the secret\n"
)

func known() *redact.Redactor {
	return redact.New(map[string]string{"CANARY": canary, "LINES": multiline, "SHORT": "abc", "OVER": "overlapping", "LAP": "lappingsecret"})
}

// letters is a random-looking run of n letters and digits.
func letters(n int) string { return strings.Repeat("aB3dE6gH9", n/9+1)[:n] }

func TestKnownValuesAreRemovedInEveryForm(t *testing.T) {
	t.Parallel()
	quoted, err := json.Marshal(canary)
	if err != nil {
		t.Fatal(err)
	}
	half := len(canary) / 2
	long := strings.Repeat("0123456789", 10)
	longBase64 := base64.StdEncoding.EncodeToString([]byte(long))
	tests := []struct{ name, form string }{
		{"as it is", canary},
		{"in base64", base64.StdEncoding.EncodeToString([]byte(canary))},
		{"in base64 without padding", base64.RawStdEncoding.EncodeToString([]byte(canary))},
		{"in base64 for URLs", base64.URLEncoding.EncodeToString([]byte(canary))},
		{"in base64 for URLs without padding", base64.RawURLEncoding.EncodeToString([]byte(canary))},
		{"first half in base64", base64.StdEncoding.EncodeToString([]byte(canary[:half]))},
		{"second half in base64", base64.StdEncoding.EncodeToString([]byte(canary[half:]))},
		{"in base64 broken into lines", longBase64[:76] + "\n" + longBase64[76:]},
		{"escaped for a query", url.QueryEscape(canary)},
		{"with a space escaped as scripts do", "pass%20w%26rd%2Bx"},
		{"escaped for a path", url.PathEscape(canary)},
		{"escaped with small letters", "s3cr3t%2f%22%3ccanary%3e&+%c3%bctoken~0123456789"},
		{"in hex", hex.EncodeToString([]byte(canary))},
		{"in capital hex", strings.ToUpper(hex.EncodeToString([]byte(canary)))},
		{"in JSON", strings.Trim(string(quoted), `"`)},
		{"in JSON that leaves < and > alone", strings.ReplaceAll(canary, `"`, `\"`)},
		{"of several lines", strings.TrimSpace(multiline)},
		{"one line of several", "second line of the secret"},
		{"overlapping another", "overlappingsecret"},
		{"twice in a row", canary + canary},
	}
	r := redact.New(map[string]string{"CANARY": canary, "LINES": multiline, "LONG": long, "SPACE": "pass w&rd+x", "OVER": "overlapping", "LAP": "lappingsecret"})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got, want := r.String("<"+test.form+">\n"), "<[redacted]>\n"; got != want {
				t.Errorf("%q became %q, want %q", test.form, got, want)
			}
		})
	}
}

func TestKnownValuesAreRemovedFromTheMiddleOfBase64(t *testing.T) {
	t.Parallel()
	r := known()
	for before := range 6 {
		for after := range 4 {
			text := strings.Repeat("b", before) + canary + strings.Repeat("a", after)
			encoded := base64.StdEncoding.EncodeToString([]byte(text))
			got := r.String(encoded)
			left := strings.ReplaceAll(got, redact.Replacement, "")
			// The digits that the value shares with its neighbours, and whole digits of those.
			if most := (before+after)*8/6 + 4; !strings.Contains(got, redact.Replacement) || len(left) > most {
				t.Errorf("%d before, %d after: %q became %q", before, after, encoded, got)
			}
		}
	}
}

func TestWellKnownKindsAreRemovedWithoutKnowingThem(t *testing.T) {
	t.Parallel()
	key := "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n" + letters(64) + "\n" + letters(30) + "==\n-----END RSA PRIVATE KEY-----"
	tests := []struct{ name, text, want string }{
		{"GitHub token", "token ghp_" + letters(36) + ".", "token [redacted]."},
		{"GitHub token glued to a word", "xghp_" + letters(36), "x[redacted]"},
		{"GitHub app token", "gho_" + letters(36) + " ghs_" + letters(36), "[redacted] [redacted]"},
		{"fine-grained GitHub token", "github_pat_" + letters(22) + "_" + letters(59), "[redacted]"},
		{"GitLab token", "glpat-" + letters(20), "[redacted]"},
		{"Signalbox token", "Bearer sbx_anna_3GYJ5TBQXJ7PZ2MWNS6KLD4AQE, of sbx_a.long-name_of@example.org_3GYJ5TBQXJ7PZ2MWNS6KLD4AQE.", "Bearer [redacted], of [redacted]."},
		{"Anthropic key", "sk-ant-api03-" + letters(90), "[redacted]"},
		{"OpenAI key", "key=sk-proj-" + letters(40), "key=[redacted]"},
		{"JWT", `{"access_token":"eyJhbGciOiJSUzI1NiJ9.eyJleHAiOjQxMDJ9.` + letters(90) + `"}`, `{"access_token":"[redacted]"}`},
		{"base64 of an object", "base64,eyJ2ZXJzaW9uIjozfQ==", "base64,eyJ2ZXJzaW9uIjozfQ=="},
		{"what renews a login", "rt_" + letters(20) + "." + letters(40) + "\nrt_sigaction_of_a_program_in_c", "[redacted]\nrt_sigaction_of_a_program_in_c"},
		{"AWS key id", "AKIAIOSFODNN7EXAMPLE", "[redacted]"},
		{"very long token", "glpat-" + letters(100_000) + " end", "[redacted] end"},
		{"private key", "a\n" + key + "\nb", "a\n[redacted]\nb"},
		{"private key in JSON", `{"k":"` + strings.ReplaceAll(key, "\n", `\n`) + `"}`, `{"k":"[redacted]"}`},
		{"private key that is cut off", strings.Split(key, "==")[0], "[redacted]"},
		{"authorization header", "Authorization: Bearer x.y\r\nHost: h", "Authorization: Bearer [redacted]\r\nHost: h"},
		{"authorization header in JSON", `{"authorization":"token abc","b":1}`, `{"authorization":"token [redacted]","b":1}`},
		{"basic authorization", "AUTHORIZATION: Basic dXNlcjpwYXNz", "AUTHORIZATION: Basic [redacted]"},
		{"bearer on its own", "curl -H 'bearer " + letters(30) + "'", "curl -H 'bearer [redacted]'"},
		{"password in a URL", "https://me:pa$$@w0rd@host/path", "https://me:[redacted]@host/path"},
		{"token for a user in a URL", "https://:abc@host", "https://:[redacted]@host"},
	}
	var none *redact.Redactor
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for name, r := range map[string]*redact.Redactor{"nil": none, "with values": known()} {
				if got := r.String(test.text); got != test.want {
					t.Errorf("%s: %q became %q, want %q", name, test.text, got, test.want)
				}
			}
		})
	}
}

func TestOrdinaryTextIsLeftAlone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "a", "\n", "abc is a value too short to be a secret",
		"desk-lamp-and-other-things-for-your-home", "class=sk-fading-circle-container-large",
		"the bearer of this authorization: required", "ghp_short sbx_short sbx_anna_NOTBASE32 sk-short AKIA glpat-",
		"https://host:8080/path ssh://git@host/x mailto:me@host http://a/b:c@d",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", "ÄÖÜ \xff\xfe 日本語",
	} {
		if got := known().String(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestBytesLeavesItsInputAlone(t *testing.T) {
	t.Parallel()
	in := []byte("x " + canary + " y")
	if got := string(known().Bytes(in)); got != "x [redacted] y" || string(in) != "x "+canary+" y" {
		t.Errorf("got %q, input is now %q", got, in)
	}
}

func TestStreamIsLive(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := known().Writer(&out)
	for i, line := range []string{"compiling", "tests pass", "https", "see a bearer", canary} {
		out.Reset()
		if _, err := fmt.Fprintln(w, line); err != nil {
			t.Fatal(err)
		}
		if got, want := out.String(), strings.Replace(line, canary, "[redacted]", 1)+"\n"; got != want {
			t.Errorf("after line %d the stream holds %q, want %q", i, got, want)
		}
	}
}

func TestStreamHoldsBackASecretInPieces(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := known().Writer(&out)
	for i := range len(canary) {
		if _, err := w.Write([]byte{canary[i]}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(redact.Replacement, out.String()) {
			t.Fatalf("let %q out", out.String())
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if out.String() != redact.Replacement {
		t.Errorf("got %q", out.String())
	}
}

func TestStreamTellsThatItsWriterFails(t *testing.T) {
	t.Parallel()
	w := known().Writer(failing{})
	if _, err := fmt.Fprintln(w, "text"); err == nil {
		t.Error("no error")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, fmt.Errorf("no space") }

func FuzzStreamEqualsWhole(f *testing.F) {
	for _, text := range []string{
		canary, multiline, "overlappingsecret", base64.StdEncoding.EncodeToString([]byte("x" + canary)),
		"Authorization: Bearer a", "https://me:pw@host", "ghp_" + letters(40), "sbx_anna_3GYJ5TBQXJ7PZ2MWNS6KLD4AQE", "sk-" + letters(30), "bearer " + letters(30),
		"-----BEGIN PRIVATE KEY-----\n" + letters(40) + "\n-----END PRIVATE KEY-----\n" + canary,
		"-----BEGIN PRIVATE KEY-----" + canary[:8] + "-----END PRIVATE KEY-----", "://a:" + canary + "@",
	} {
		f.Add([]byte(text), []byte{1, 3, 0, 7})
		f.Add([]byte("some "+text+" and "+text[:len(text)/2]), []byte{5})
	}
	f.Add([]byte("\xb5://:\x01@"), []byte{0}) // a password that is unseen
	r := known()
	f.Fuzz(func(t *testing.T, text, cuts []byte) {
		whole := string(r.Bytes(text))
		var out bytes.Buffer
		w := r.Writer(&out)
		for i, rest := 0, text; len(rest) > 0; i++ {
			n := len(rest)
			if len(cuts) > 0 {
				n = min(n, int(cuts[i%len(cuts)])+1)
			}
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if out.String() != whole {
			t.Errorf("streamed %q, whole %q", out.String(), whole)
		}
		if strings.Contains(whole, canary) || strings.Contains(whole, "overlapping") {
			t.Errorf("%q still holds a secret", whole)
		}
	})
}

func BenchmarkLog(b *testing.B) {
	text := []byte(strings.Repeat("ok  	signalbox/internal/process	1.234s  coverage: 87.1% of statements\n", 1<<14))
	r := known()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Bytes(text)
	}
}

func BenchmarkHostile(b *testing.B) {
	text := []byte(strings.Repeat("sk-ghp_glpat-://bearer authorization: s3cr3t", 1<<14))
	r := known()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Bytes(text)
	}
}
