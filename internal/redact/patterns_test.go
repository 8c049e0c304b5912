package redact_test

import (
	"testing"

	"signalbox/internal/redact"
)

func TestAValueBehindTheNameOfASecretIsHidden(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ERROR login failed password=hunter2hunter2 user=ann":  "ERROR login failed password=[redacted] user=ann",
		"GET https://x.example/a?token=abcd1234&page=2 failed": "GET https://x.example/a?token=[redacted]&page=2 failed",
		`{"api_key": "abcd1234", "page": 2}`:                   `{"api_key": "[redacted]", "page": 2}`,
		"DB_PASSWORD: hunter2hunter2":                          "DB_PASSWORD: [redacted]",
		"authorization: Bearer abcd1234efgh":                   "authorization: Bearer [redacted]",
		"client_secret='abcd 1234'":                            "client_secret='[redacted] 1234'",
		"unexpected token near line 7":                         "unexpected token near line 7",
		"the password is wrong":                                "the password is wrong",
	} {
		if got := redact.Named(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
