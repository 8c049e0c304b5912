package git

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestContentsAreTakenApartHoweverTheyCome(t *testing.T) {
	t.Parallel()
	contents := []string{"", "a", "line\n", "\n\n", "id blob 3\nabc\n", "no end", strings.Repeat("long ", 10)}
	var printed strings.Builder
	var want []string
	const limit = 20
	for i, content := range contents {
		_, _ = fmt.Fprintf(&printed, "id%d blob %d\n%s\n", i, len(content), content)
		want = append(want, fmt.Sprintf("id%d: %s", i, content[:min(len(content), limit)]))
	}
	for piece := 1; piece < 30; piece++ {
		var got []string
		reader := &blobReader{limit: limit, each: func(id string, content []byte) { got = append(got, id+": "+string(content)) }}
		for part := range slices.Chunk([]byte(printed.String()), piece) {
			if _, err := reader.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("in pieces of %d: %q, want %q", piece, got, want)
		}
	}
}

func TestAnObjectThatIsNoContentIsAnError(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"0123 missing", "0123 tree 3", "", "a b c d"} {
		reader := &blobReader{each: func(string, []byte) {}}
		if _, err := reader.Write([]byte(line + "\nx")); err == nil {
			t.Errorf("%q was taken", line)
		}
	}
}
