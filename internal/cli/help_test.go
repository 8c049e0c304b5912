package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"signalbox/internal/registry"
)

func TestEveryCommandHasItsHelpAndEveryHelpItsCommand(t *testing.T) {
	t.Parallel()
	texts := helpTexts()
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		path := c.CommandPath()
		ours := path != "signalbox help" && !strings.HasPrefix(path, "signalbox completion ")
		if ours && !c.Hidden && (c.Short == "" || !strings.Contains(c.Example, "signalbox")) {
			t.Errorf("%s has the short help %q and the examples %q", path, c.Short, c.Example)
		}
		for line := range strings.Lines(c.Long) {
			if width := len([]rune(strings.TrimSuffix(line, "\n"))); ours && width > 125 {
				t.Errorf("%s has a line of %d columns: %s", path, width, line)
			}
		}
		delete(texts, path)
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(Commands())
	for path := range texts {
		t.Errorf("help/*.txt has a text for %s, which is no command", path)
	}
}

func TestTheHelpOfBlockNamesEveryReason(t *testing.T) {
	t.Parallel()
	words := strings.FieldsFunc(helpTexts()["signalbox env block"].long, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') })
	for _, reason := range registry.BlockedReasons {
		if !slices.Contains(words, string(reason)) {
			t.Errorf("the help of env block doesn't name the reason %s", reason)
		}
	}
}
