package issue

import (
	_ "embed"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
)

//go:embed lib/status.sh
var shellFunctions string

func newIssueShellFunctions(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "shell-functions",
		RunE: func(*cobra.Command, []string) error {
			a.Print("%s", shellFunctions)
			return nil
		},
	}
}
