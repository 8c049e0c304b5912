package command

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"signalbox/internal/problem"
	"signalbox/internal/workflow"
)

// UsageError is a wrong command line, and what to type instead.
func UsageError(hint, format string, args ...any) error {
	return &problem.Error{Err: fmt.Errorf(format, args...), Hint: hint, Code: problem.Usage}
}

// UsageHint shows how a command is used, with an example if it takes arguments.
func UsageHint(c *cobra.Command) string {
	hint := "usage: " + strings.TrimSuffix(c.UseLine(), " [flags]")
	if first, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n"); first != "" && strings.Contains(c.Use, " ") {
		hint += "; for instance: " + first
	}
	return hint + fmt.Sprintf("; see %q", c.CommandPath()+" --help")
}

// Usage gives a wrong number of arguments its exit code, the names of the missing ones, and an example.
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
			required, optional := 0, 0
			var missing []string
			for _, name := range strings.Fields(c.Use)[1:] { // ENV_ID, [LOG], FILE...
				switch {
				case strings.HasPrefix(name, "-"):
				case strings.HasPrefix(name, "["):
					optional++
				case required == len(args):
					missing = append(missing, name)
				default:
					required++
				}
			}
			switch last := len(missing) - 1; {
			case last == 0:
				err = fmt.Errorf("%s is missing", missing[0])
			case last > 0:
				err = fmt.Errorf("%s and %s are missing", strings.Join(missing[:last], ", "), missing[last])
			case len(args) > required+optional:
				err = fmt.Errorf("%q is one argument too many", args[required+optional])
			}
			return UsageError(UsageHint(c), "%w", err)
		}
		if err := c.ValidateFlagGroups(); err != nil {
			return WrongFlag(c, err)
		}
		return nil
	}
}

// WrongFlag is an error about the command's flags in our words, with where to look.
func WrongFlag(c *cobra.Command, err error) error {
	return UsageError(fmt.Sprintf("see %q", c.CommandPath()+" --help"), "%w", FlagError(err))
}

// FlagError puts pflag's errors into our words.
func FlagError(err error) error {
	var unknown *pflag.NotExistError
	var empty *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("there is no flag %s", dashes(unknown.GetSpecifiedName(), unknown.GetSpecifiedShortnames()))
	case errors.As(err, &empty):
		return fmt.Errorf("%s wants a value", dashes(empty.GetSpecifiedName(), empty.GetSpecifiedShortnames()))
	case errors.As(err, &invalid):
		kind := invalid.GetFlag().Value.Type()
		kinds := map[string]string{"bool": "true or false", "duration": "a time, such as 30s, 10m or 2h", "int": "a whole number"}
		return fmt.Errorf("--%s is %q: want %s", invalid.GetFlag().Name, invalid.GetValue(), cmp.Or(kinds[kind], "another "+kind))
	}
	// A group of flags has no error type: "…; [allow deny] were all set".
	if _, set, ok := strings.Cut(err.Error(), "; ["); ok {
		set, _, _ = strings.Cut(set, "]")
		return fmt.Errorf("--%s exclude each other", strings.Join(strings.Fields(set), " and --"))
	}
	return err
}

func dashes(name, short string) string {
	if short != "" {
		return "-" + name
	}
	return "--" + name
}

// AddRunFlags adds the flags of every command that carries runs.
func AddRunFlags(a *Invocation, c *cobra.Command) {
	c.Flags().BoolVar(&a.Opener.Overrides.Unsandboxed, "unsandboxed", false, "run agents and commands on this machine as you, without isolation")
	c.Flags().StringVar(&a.Opener.Overrides.Agent, "agent", "", "the agent that alone implements the request: one of the configuration, or a program (prompt on its standard input)")
	c.Flags().IntVar(&a.Opener.Overrides.MaxParallel, "max-parallel", 0, "how many runs of the project work at once")
	a.AddTrustFlag(c)
}

// Ended is the exit code for the state in which a run ended or stopped.
func Ended(state workflow.State) error {
	codes := map[workflow.State]int{workflow.Done: problem.OK, workflow.NeedsInput: problem.NeedsInput, workflow.Failed: problem.Failed,
		workflow.Canceled: problem.Canceled, workflow.Queued: problem.NeedsInput, workflow.Running: problem.General}
	if code := codes[state]; code != problem.OK {
		return &problem.Error{Code: code}
	}
	return nil
}
