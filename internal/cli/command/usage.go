package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/problem"
)

// Usage gives a wrong number of arguments its exit code, the names of those that are
// missing, and an example to begin with.
func Usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if check == nil {
			check = cobra.NoArgs
		}
		if err := check(c, args); err != nil {
			var p *problem.Error
			if errors.As(err, &p) {
				return err
			}
			return &problem.Error{Err: argumentError(c, args, err), Hint: UsageHint(c), Code: problem.Usage}
		}
		if err := c.ValidateFlagGroups(); err != nil {
			return WrongFlag(c, err)
		}
		return nil
	}
}

// argumentError says what err, which counts, means for the arguments that c names.
func argumentError(c *cobra.Command, args []string, err error) error {
	required, optional := 0, 0
	var missing []string
	for _, name := range argumentNames(c) {
		switch {
		case strings.HasPrefix(name, "["):
			optional++
		case required == len(args):
			missing = append(missing, name)
		default:
			required++
		}
	}
	switch {
	case len(missing) == 1:
		return fmt.Errorf("%s is missing", missing[0])
	case len(missing) > 1:
		return fmt.Errorf("%s and %s are missing", strings.Join(missing[:len(missing)-1], ", "), missing[len(missing)-1])
	case len(args) > required+optional:
		return fmt.Errorf("%q is one argument too many", args[required+optional])
	}
	return err
}

// argumentNames are those of the command's usage line: ENV_ID, [LOG], FILE...
func argumentNames(c *cobra.Command) (names []string) {
	for _, word := range strings.Fields(c.Use)[1:] {
		if !strings.HasPrefix(word, "-") {
			names = append(names, word)
		}
	}
	return names
}

// UsageLine is the command with its arguments.
func UsageLine(c *cobra.Command) string {
	_, arguments, _ := strings.Cut(c.Use, " ")
	return strings.TrimSpace(c.CommandPath() + " " + arguments)
}

func UsageHint(c *cobra.Command) string {
	hint := "usage: " + UsageLine(c)
	if first, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n"); first != "" && len(argumentNames(c)) > 0 {
		hint += "; for instance: " + first
	}
	return hint + fmt.Sprintf("; see %q", c.CommandPath()+" --help")
}
