package cli

import (
	"cmp"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/wire"
)

// release is the version of a program that was built outside a git checkout, as from a source archive:
// go build -ldflags "-X signalbox/internal/cli.release=v1.2.3".
var release string

// build identifies this program. Revision and Time are those of the commit; they are empty if the build didn't record them.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Time     string `json:"time"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisBuild() build {
	b := build{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Version = info.Main.Version
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Revision = s.Value
			case "vcs.time":
				b.Time = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	b.Version = cmp.Or(release, b.Version)
	return b
}

func (b build) String() string {
	text := "signalbox " + b.Version
	if b.Revision != "" {
		text += ", commit " + b.Revision
		if b.Modified {
			text += " with uncommitted changes"
		}
	}
	if b.Time != "" {
		text += " of " + b.Time
	}
	return text + ", " + b.Go + " " + b.Platform
}

func newVersion(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "version",
		RunE: func(*cobra.Command, []string) error {
			return a.Show(thisBuild(), func() { a.Print("%s\n", thisBuild()) })
		},
	}
}

// newReplayAgent returns the hidden command that is the scripted agent of the replay driver.
func newReplayAgent(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:    wire.ReplayAgentName + " SCRIPT",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if code := wire.ReplayAgent(c.Context(), args, os.Getenv, a.In, a.Bare.Out, a.Bare.Err); code != 0 {
				return &problem.Error{Code: code}
			}
			return nil
		},
	}
}
