package cli

import (
	_ "embed"

	"github.com/spf13/cobra"
)

//go:embed lib/status.sh
var shellFunctions string

func newIssueShellFunctions(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "shell-functions",
		Short: "Print shell functions for scripts that say save_status, get_status and so on",
		Long: "Print lib/status.sh: save_status, set_status, get_status, load_status, get_error_message, list_all_statuses,\n" +
			"list_issues_by_status, remove_status and find_orphaned_statuses for bash and every POSIX shell. They call the\n" +
			"program that $SIGNALBOX names, or signalbox.",
		Example: "  signalbox issue shell-functions >lib/status.sh\n  eval \"$(signalbox issue shell-functions)\"",
		RunE: func(*cobra.Command, []string) error {
			a.print("%s", shellFunctions)
			return nil
		},
	}
}
