package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"signalbox/internal/problem"
)

// WrongFlag is an error about the command's flags in our words, with where to look.
func WrongFlag(c *cobra.Command, err error) error {
	return &problem.Error{Err: FlagError(err), Hint: fmt.Sprintf("see %q", c.CommandPath()+" --help"), Code: problem.Usage}
}

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
		return fmt.Errorf("--%s is %q: want %s", invalid.GetFlag().Name, invalid.GetValue(), wanted(invalid.GetFlag()))
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

// wanted says what a flag takes.
func wanted(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "duration":
		return "a time, such as 30s, 10m or 2h"
	case "int":
		return "a whole number"
	}
	return "another " + f.Value.Type()
}
