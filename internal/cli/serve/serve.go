// Package serve holds "signalbox serve", which is a program of its own.
package serve

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"signalbox/internal/cli/beside"
)

// New returns the command. version is this program's.
func New(version string) *cobra.Command {
	c := &cobra.Command{
		Use: "serve [FOLDER...]", Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, folders []string) error {
			args := []string{"-version", version}
			c.Flags().Visit(func(f *pflag.Flag) { args = append(args, "-"+f.Name+"="+f.Value.String()) })
			return beside.Become("signalbox-serve", append(append(args, "--"), folders...)...)
		},
	}
	c.Flags().String("listen", "", "answer browsers at this address (default: serve.listen, or 127.0.0.1:7411)")
	c.Flags().Bool("no-web", false, "answer nothing by HTTP")
	c.Flags().Bool("open", false, "open the page in your browser")
	c.Flags().String("metrics", "", "answer Prometheus at this address, without asking for credentials")
	c.Flags().Int("max-parallel", 0, "how many runs of all projects together work at once (default: as many as each project allows)")
	c.Flags().Bool("unit", false, "print a systemd user unit that runs this command")
	c.AddCommand(&cobra.Command{Use: "token NAME", Args: cobra.ExactArgs(1), RunE: func(_ *cobra.Command, names []string) error {
		return beside.Become("signalbox-serve", "-token", names[0])
	}})
	return c
}
