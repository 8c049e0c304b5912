package redact_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/redact"
)

func TestASecretInContentIsFoundByItsNameAndLine(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-canary"
	r := redact.New(map[string]string{"MY_TOKEN": secret, "SECRET_BACKEND": "vaultserver", "CREDENTIALS_FILE": "/home/ann/key.json",
		"HOOK_TOKEN_URL": "https://hooks.example/x?key=1", "TOKEN_MODE": "fast-mode", "LONG_PASSPHRASE": "correct horse battery staple"})
	for _, test := range []struct {
		name, text string
		want       []redact.Found
	}{
		{"as it is", "a\nkey = " + secret + "\n", []redact.Found{{Name: "MY_TOKEN", Line: 2, Text: "key = " + secret}}},
		{"at the end without a newline", secret, []redact.Found{{Name: "MY_TOKEN", Line: 1, Text: secret}}},
		{"twice on a line once", "x " + secret + " " + secret, []redact.Found{{Name: "MY_TOKEN", Line: 1, Text: "x " + secret + " " + secret}}},
		{"in base64", "\n\n" + base64.StdEncoding.EncodeToString([]byte(secret)), []redact.Found{{Name: "MY_TOKEN", Line: 3, Text: base64.StdEncoding.EncodeToString([]byte(secret))}}},
		{"split by what nobody sees", "hunter2\u200b-canary", []redact.Found{{Name: "MY_TOKEN", Line: 1, Text: secret}}},
		{"behind half a sequence", "\x1b[hunter2-canary", []redact.Found{{Name: "MY_TOKEN", Line: 1, Text: "\x1b[hunter2-canary"}}},
		{"among zeros", "\x00\x00" + secret + "\x00", []redact.Found{{Name: "MY_TOKEN", Line: 1, Text: secret}}},
		{"a passphrase", "correct horse battery staple", []redact.Found{{Name: "LONG_PASSPHRASE", Line: 1, Text: "correct horse battery staple"}}},
		{"an address that lets in", "https://hooks.example/x?key=1", []redact.Found{{Name: "HOOK_TOKEN_URL", Line: 1, Text: "https://hooks.example/x?key=1"}}},
		{"a token of a known kind", "x = ghp_" + letters(36), []redact.Found{{Kind: "a GitHub token", Line: 1, Text: "x = ghp_" + letters(36)}}},
		{"a private key", "\n-----BEGIN PRIVATE KEY-----\nabc", []redact.Found{{Kind: "a private key", Line: 2, Text: "-----BEGIN PRIVATE KEY-----"}}},
		{"an ordinary word", "use vaultserver", nil},
		{"an ordinary setting", "fast-mode", nil},
		{"a file's name", "open(/home/ann/key.json)", nil},
		{"what documentation has", "postgres://user:password@localhost Authorization: Bearer x", nil},
		{"nothing", "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := r.Find([]byte(test.text)); !slices.Equal(got, test.want) {
				t.Errorf("found %+v, want %+v", got, test.want)
			}
		})
	}
	if n := len(r.Find([]byte(strings.Repeat(secret+"\n", 1000)))); n > 100 {
		t.Errorf("%d are told", n)
	}
}

func TestAValueAddedLaterIsHiddenByAWriterInUse(t *testing.T) {
	t.Parallel()
	r := redact.New(nil)
	var out strings.Builder
	w := r.Writer(&out)
	done := make(chan struct{})
	go func() { // as another goroutine does
		r.Add(map[string]string{".env: DB": "hunter2-canary"})
		close(done)
	}()
	_, _ = w.Write([]byte("some text\n"))
	<-done
	_, _ = w.Write([]byte("hunter2-canary\n"))
	if _ = w.Close(); out.String() != "some text\n[redacted]\n" {
		t.Errorf("got %q", out.String())
	}
}

// A model of a language or an image is megabytes of what the eye does not see: looking through it takes a
// bounded number of allocations, not one for each byte.
func TestAFileOfZerosIsLookedThroughAtOnce(t *testing.T) {
	content := append(make([]byte, 1<<20), "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"...)
	r := redact.New(nil)
	if found := r.Find(content); len(found) != 1 {
		t.Fatalf("found %v behind the zeros, want one token", found)
	}
	if n := testing.AllocsPerRun(1, func() { r.Find(content) }); n > 1000 {
		t.Errorf("%v allocations for 1 MiB of zeros", n)
	}
}
