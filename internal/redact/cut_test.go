package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"signalbox/internal/redact"
)

// A limit may cut a text within a secret before anyone who knows the secret sees it.
func TestASecretCutByALimitIsHidden(t *testing.T) {
	t.Parallel()
	const secret = `hunter2-"canary"-value-0123`
	r := redact.New(map[string]string{"MY_TOKEN": secret, "SHORT_TOKEN": "swordf1sh", "KEY_FILE": "/home/ann/credentials/key.json"})
	inJSON, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	escaped := strings.Trim(string(inJSON), `"`)
	for _, test := range []struct{ name, text, want string }{
		{"cut by a line's limit", redact.Line("the token is "+secret, 25), "the token is [redacted]…"},
		{"cut before a space and a mark", "the token is hunter2- … of it", "the token is [redacted] … of it"},
		{"cut by a program of its own", "the token is hunter2-\"can...", "the token is [redacted]..."},
		{"cut within JSON", `{"token":"` + escaped[:14] + `…"}`, `{"token":"[redacted]…"}`},
		{"the end behind a mark", "… " + secret[12:] + " was refused", "… [redacted] was refused"},
		{"the end right behind a mark", "…" + secret[18:] + " was refused", "…[redacted] was refused"},
		{"a middle between marks", "…" + secret[5:15] + "…", "…[redacted]…"},
		{"more than half at the end of a text", "the token is " + secret[:14], "the token is [redacted]"},
		{"more than half at the beginning of a text", secret[13:] + " was refused", "[redacted] was refused"},
		{"cut and split by a colour", "the token is " + secret[:8] + "\x1b[0m" + secret[8:11] + "…", "the token is [redacted]…"},

		{"less than half at the end of a text", "the token is hunter2-", "the token is hunter2-"},
		{"a few letters before a mark", "the token is hunter…", "the token is hunter…"},
		{"the same letters in the middle", "hunter2-\"cana is a part", "hunter2-\"cana is a part"},
		{"half of a path", "see /home/ann/credentials", "see /home/ann/credentials"},
		{"a mark alone", "Thinking… well …", "Thinking… well …"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := r.String(test.text); redact.Clean(got) != test.want {
				t.Errorf("%q became %q, want %q", test.text, got, test.want)
			}
			for piece := 1; piece < 4; piece++ {
				if got := streamed(t, r.Writer, test.text, piece); got != r.String(test.text) {
					t.Errorf("%q in pieces of %d became %q", test.text, piece, got)
				}
			}
		})
	}
}
