package hosted

import (
	"strings"
	"testing"
	"unicode/utf8"

	"signalbox/internal/forge"
)

func TestAMarkerIsOneCommentWhateverTheKey(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, key := range []string{"a", "A", "a/b", "--", "-", "---", "-->", "a b", "a+b", "a%20b", "日本語", "\n", strings.Repeat("x", 300), strings.Repeat("x", 301), "<!-- signalbox:run=a -->"} {
		m := mark("run", key)
		inside := strings.TrimSuffix(strings.TrimPrefix(m, "<!-- "), " -->")
		if strings.Contains(inside, "--") || strings.ContainsAny(inside, "<> \n") || len(m) > 2*maxKey {
			t.Errorf("key %q gives %q", key, m)
		}
		if other, twice := seen[m]; twice {
			t.Errorf("keys %q and %q give the same marker", key, other)
		}
		seen[m] = key
		for _, text := range []string{"", "text", "\n---\n", "<!-- signalbox:run=b -->\nx"} {
			if sent := marked(m, text); !strings.HasPrefix(sent, m) || unmarked(sent) != forge.Defused(text) {
				t.Errorf("text %q is sent as %q and read as %q", text, sent, unmarked(sent))
			}
		}
	}
	if sent := marked(mark("run", "a"), strings.Repeat("ä", maxBody)); len(sent) > maxBody+100 || !utf8.ValidString(sent) {
		t.Errorf("a long text is sent as %d bytes", len(sent))
	}
	if page := "<!-- a person's comment -->\ntext"; unmarked(page) != page {
		t.Errorf("another comment is cut: %q", unmarked(page))
	}
}
