package env

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/containeruse"
	"signalbox/internal/redact"
)

func newEnvSync(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "sync", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := a.Open(c.Context())
			if err != nil {
				return err
			}
			done, err := environments.SyncContainerUse(c.Context(), p.App)
			if err != nil {
				return err
			}
			return a.Show(done, func() {
				for _, e := range done.Added {
					a.Print("added %s: issue #%d, %s\n", e.EnvID, e.IssueNumber, redact.Line(e.Title, 200))
				}
				for _, e := range done.Unknown {
					a.Print("%s (%s) names no issue; record it: signalbox env add %s ISSUE %s TITLE\n", e.ID, redact.Line(e.Title, 200),
						commandline.ShellWord(e.ID), commandline.ShellWord(containeruse.Branch(e.ID)))
				}
				for _, e := range done.Gone {
					a.Print("%s is gone from container-use; remove its entry: signalbox env remove %s\n", redact.Line(e.EnvID, 200), commandline.ShellWord(e.EnvID))
				}
				if len(done.Added)+len(done.Unknown)+len(done.Gone) == 0 {
					a.Say("every environment of container-use is recorded")
				}
			})
		},
	}
}
