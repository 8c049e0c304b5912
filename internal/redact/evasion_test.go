package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/redact"
)

const evaded = "Hunter2&canary'value/42" // has what escapes escape

// each is a text with each of its bytes written by the format.
func each(text, format string) string {
	var out strings.Builder
	for i := range len(text) {
		_, _ = fmt.Fprintf(&out, format, text[i])
	}
	return out.String()
}

func reversed(text string) string {
	letters := []rune(text)
	slices.Reverse(letters)
	return string(letters)
}

// folded is text in lines of so many letters, each behind a prefix.
func folded(text string, width int, prefix string) string {
	var lines []string
	for part := range slices.Chunk([]byte(text), width) {
		lines = append(lines, prefix+string(part))
	}
	return strings.Join(lines, "\n")
}

// evasions are the ways to write a secret that docs/security.md speaks of: which are masked, and which are not.
var evasions = []struct {
	name, text string
	masked     bool
}{
	{"as it is", evaded, true},
	{"split by an escape sequence", evaded[:9] + "\x1b[0m" + evaded[9:], true},
	{"split by a carriage return", evaded[:9] + "\r" + evaded[9:], true},
	{"split by a backspace, NUL or C1 control", evaded[:5] + "\b" + evaded[5:9] + "\x00" + evaded[9:12] + "\u0085" + evaded[12:], true},
	{"split by characters without width and tags", evaded[:5] + "\u200b" + evaded[5:9] + "\U000e0041" + evaded[9:], true},
	{"base64", base64.StdEncoding.EncodeToString([]byte(evaded)), true},
	{"base64 for URLs", base64.RawURLEncoding.EncodeToString([]byte(evaded)), true},
	{"base64 in the middle of something, first alignment", base64.StdEncoding.EncodeToString([]byte("abc" + evaded + "xyz")), true},
	{"base64 in the middle of something, second alignment", base64.StdEncoding.EncodeToString([]byte("a" + evaded + "xyz")), true},
	{"base64 in the middle of something, third alignment", base64.StdEncoding.EncodeToString([]byte("ab" + evaded + "xyz")), true},
	{"hex", hex.EncodeToString([]byte(evaded)), true},
	{"capital hex", strings.ToUpper(hex.EncodeToString([]byte(evaded))), true},
	{"hex with spaces", each(evaded, "%02x "), true},
	{"hex with colons", strings.Trim(each(evaded, "%02X:"), ":"), true},
	{`hex as \x41`, each(evaded, `\x%02x`), true},
	{"hex as 0x41, 0x42", each(evaded, "0x%02x, "), true},
	{"octal as \\101", each(evaded, `\%03o`), true},
	{"JSON as \\u0041", each(evaded, `\u%04x`), true},
	{"JSON", strings.ReplaceAll(evaded, "&", `\u0026`), true},
	{"JSON as PHP writes it", strings.ReplaceAll(evaded, "/", `\/`), true},
	{"JSON as Ruby on Rails writes it", strings.NewReplacer("&", `\u0026`, "'", `\u0027`).Replace(evaded), true},
	{"JSON as .NET writes it", strings.NewReplacer("&", `\u0026`, "'", `\u0027`).Replace(evaded), true},
	{"bold on a typewriter", each(evaded, "%[1]c\b%[1]c"), true},
	{"underlined on a typewriter", each(evaded, "_\b%c"), true},
	{"UTF-16", each(evaded, "%c\x00"), true},
	{"in another character set", "\x1b(0" + evaded[:9] + "\x0e" + evaded[9:] + "\x0f\x1b(B", true},
	{"behind what a carriage return writes over", "xxxxx\r" + evaded, true},
	{"percent-encoding", url.QueryEscape(evaded), true},
	{"percent-encoding of every letter", each(evaded, "%%%02x"), true},
	{"HTML", html.EscapeString(evaded), true},
	{"HTML entities for every letter", each(evaded, "&#%d;"), true},
	{"HTML entities in hex", each(evaded, "&#x%x;"), true},
	{"quoted-printable of every letter", each(evaded, "=%02X"), true},
	{"quoted for a shell", strings.ReplaceAll(evaded, "'", `'\''`), true},
	{"escaped for a shell", `Hunter2\&canary\'value/42`, true},
	{"spaces between the letters", strings.Join(strings.Split(evaded, ""), " "), true},

	{"reversed", reversed(evaded), true},
	{"capitals", strings.ToUpper(evaded), true},
	{"small letters", strings.ToLower(evaded), true},
	{"a URL's password", "https://ann:" + evaded + "@host/", true},

	{"JSON that escapes some letters at will", strings.ReplaceAll(evaded, "a", `\u0061`), false},
	{"a wrong letter struck over", evaded[:5] + "x\b" + evaded[5:], false},
	{"other separators", strings.Join(strings.Split(evaded, ""), "*"), false},
	{"base64 of UTF-16", base64.StdEncoding.EncodeToString([]byte(each(evaded, "%c\x00"))), false},
	{"folded lines", folded(evaded, 10, ""), false},
	{"folded lines with a prefix", folded(evaded, 10, "| "), false},
	{"base64 folded at an odd width", folded(base64.StdEncoding.EncodeToString([]byte(evaded)), 10, "  "), false},
	{"a letter a line", strings.Join(strings.Split(evaded, ""), "\n"), false},
	{"two parts in one line", evaded[:10] + " and " + evaded[10:], false},
	{"base64 twice", base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte("x" + evaded)))), false},
	{"letters in another case here and there", "hUNTER2&cANARY'vALUE/42", false},
	{"letters moved in the alphabet", strings.Map(func(r rune) rune { return r + 1 }, evaded), false},
}

func TestEvasionsAreMaskedAsThePagePromises(t *testing.T) {
	t.Parallel()
	r := redact.New(map[string]string{"MY_TOKEN": evaded})
	for _, test := range evasions {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := r.Text("before " + test.text + " after")
			if masked := strings.Contains(got, redact.Replacement); masked != test.masked {
				t.Errorf("%q became %q", test.text, got)
			}
			if left := strings.ReplaceAll(got, redact.Replacement, ""); test.masked && len(redact.Clean(left)) > len("before  after")+len("https://ann:@host/") {
				t.Errorf("of %q is left %q", test.text, got)
			}
		})
	}
}

func TestCommonValuesOfSecretNamedVariablesAreNoSecrets(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"true", "8080", "yes", "none", "admin", "production", "disabled", "localhost"} {
		r := redact.New(map[string]string{"SECRET_MODE": value})
		if text := "the mode is " + value + ", as it should be"; r.Text(text) != text {
			t.Errorf("%q is hidden", value)
		}
	}
}

func TestASecretWithLettersThatAreNotASCIIIsMaskedAsProgramsEscapeIt(t *testing.T) {
	t.Parallel()
	r := redact.New(map[string]string{"MY_TOKEN": "pässwörd🔑12+x"})
	for program, text := range map[string]string{
		"Python, in JSON":  `p\u00e4ssw\u00f6rd\ud83d\udd1112+x`,
		".NET, in JSON":    `p\u00E4ssw\u00F6rd\uD83D\uDD1112\u002Bx`,
		"git, of a name":   `p\303\244ssw\303\266rd\360\237\224\22112+x`,
		"Python, of bytes": `p\xc3\xa4ssw\xc3\xb6rd\xf0\x9f\x94\x9112+x`,
	} {
		if got := r.Text(text); got != redact.Replacement {
			t.Errorf("%s: %q became %q", program, text, got)
		}
	}
}
