package redact_test

import (
	"strings"
	"testing"

	"signalbox/internal/redact"
)

// written is what a Writer passes on of each piece, with a bar after it.
type written struct{ strings.Builder }

func (w *written) Write(p []byte) (int, error) {
	_, _ = w.WriteString("|")
	return w.Builder.Write(p)
}

func TestAWordThatIsHeldBackHasNoPartOfAnEscapeSequence(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"say pleas":          "|say ",
		"\x1b[?2004hpleas":   "|\x1b[?2004h",
		"a\x1b[1mok\x1bMple": "|a\x1b[1mok\x1bM",
		"\x1b]0;t\apleas":    "|\x1b]0;t\a",
	} {
		var got written
		w := redact.New(map[string]string{"KEY": "s3cret-of-many-letters", "OTHER": "e3cret-of-many-letters"}).Writer(&got)
		if _, err := w.Write([]byte(text)); err != nil || got.String() != want {
			t.Errorf("of %q it passed on %q, want %q (%v)", text, got.String(), want, err)
		}
	}
}
