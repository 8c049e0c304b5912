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
		Use:   "shell-functions",
		Short: "Print shell functions for scripts: save_status, get_status and more",
		Long: "Print lib/status.sh for bash and every POSIX shell: save_status, set_status, get_status, get_status_value,\n" +
			"load_status, get_error_message, list_all_statuses, list_issues_by_status, remove_status; get_status_dir,\n" +
			"init_status_dir, json_escape, build_json_with_jq, build_json_fallback; find_orphaned_statuses,\n" +
			"count_orphaned_statuses, find_old_statuses [DAYS], find_stale_statuses [HOURS]; save_, load_ and\n" +
			"remove_watcher_pid, is_watcher_running; acquire_ and release_cleanup_lock, is_cleanup_locked. Records are read and\n" +
			"written by the program that $SIGNALBOX names, or signalbox. $SIGNALBOX_SESSION_PREFIX begins made-up session names.",
		Example: "  signalbox issue shell-functions >lib/status.sh\n  eval \"$(signalbox issue shell-functions)\"\n" +
			"  for issue in $(find_old_statuses 30); do remove_status \"$issue\"; done",
		RunE: func(*cobra.Command, []string) error {
			a.Print("%s", shellFunctions)
			return nil
		},
	}
}
