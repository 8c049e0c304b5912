package command

import "github.com/spf13/cobra"

// AddRunFlags are the flags of every command that carries runs.
func AddRunFlags(a *Invocation, c *cobra.Command) {
	c.Flags().BoolVar(&a.Opener.Overrides.Unsandboxed, "unsandboxed", false, "run agents and commands on this machine as you, without isolation")
	c.Flags().StringVar(&a.Opener.Overrides.Agent, "agent", "", "who alone implements the request: an agent of the configuration, or a program (prompt on its standard input)")
	c.Flags().IntVar(&a.Opener.Overrides.MaxParallel, "max-parallel", 0, "how many runs of the project work at once")
	a.AddTrustFlag(c)
}
