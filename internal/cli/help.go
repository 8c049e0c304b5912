package cli

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed help/*.txt
var helpFiles embed.FS

// helpText is the help of one command.
type helpText struct{ short, long, examples string }

// helpTexts reads help/*.txt. Each command has a heading with its path, a short text, usually a long one, and examples.
func helpTexts() map[string]helpText {
	texts := map[string]helpText{}
	files, _ := helpFiles.ReadDir("help") // embedded, so it can be read
	for _, file := range files {
		content, _ := helpFiles.ReadFile("help/" + file.Name())
		for _, part := range strings.Split("\n"+string(content), "\n# ")[1:] {
			path, rest, _ := strings.Cut(part, "\n")
			rest, examples, _ := strings.Cut(rest, "\nExamples:\n")
			short, long, _ := strings.Cut(rest, "\n")
			texts[path] = helpText{short, strings.TrimSpace(long), strings.TrimRight(examples, "\n")}
		}
	}
	return texts
}

// fillHelp gives each command its text; cobra's own commands keep those that we have no text for.
func fillHelp(c *cobra.Command, texts map[string]helpText) {
	text := texts[c.CommandPath()]
	if text.short != "" {
		c.Short, c.Long = text.short, text.long
	}
	c.Example = text.examples
	for _, sub := range c.Commands() {
		fillHelp(sub, texts)
	}
}
