package cli

import (
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/agent/replay"
)

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  signalbox version\n  signalbox version --json",
		RunE: func(*cobra.Command, []string) error {
			version, revision := "(unknown)", ""
			if info, ok := debug.ReadBuildInfo(); ok {
				version = info.Main.Version
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						revision = s.Value
					}
				}
			}
			if a.json {
				return a.printJSON(map[string]string{"version": version, "revision": revision})
			}
			a.print("%s\n", strings.TrimSpace("signalbox "+version+" "+revision))
			return nil
		},
	}
}

// replayAgentName is the command under which the replay driver starts itself.
const replayAgentName = "replay-agent"

func newReplayAgent(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    replayAgentName + " SCRIPT",
		Short:  "Act as the scripted agent (used by the replay driver)",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if code := replay.Main(c.Context(), args, os.Getenv, a.In, a.bare.Out, a.bare.Err); code != 0 {
				return &problem{code: code}
			}
			return nil
		},
	}
}
