package cli

import (
	"context"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/problem"
	"signalbox/internal/wire"
)

func newTrust(a *command.Invocation) *cobra.Command {
	var show, revoke, yes bool
	c := &cobra.Command{
		Use: "trust", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			a.Opener.LooksAtTrust = true
			p, err := a.Open(c.Context())
			if err == nil && !revoke {
				err = p.ConfigError
			}
			if err != nil {
				return err
			}
			defer func() { _ = p.Store.Close() }()
			if !revoke {
				return giveTrust(c.Context(), p, show, yes)
			}
			n, err := p.RevokeTrust()
			if err != nil {
				return err
			}
			return a.Show(map[string]int{"revoked": n}, func() {
				if n == 0 {
					a.Print("you had agreed to nothing here\n")
				} else {
					a.Print("%s forgotten; you are asked again before any of it is used\n", commandline.Count(n, "agreement"))
				}
			})
		},
	}
	c.Flags().BoolVar(&show, "show", false, "only show the list")
	c.Flags().BoolVar(&revoke, "revoke", false, "forget what you agreed to in this project")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "agree without being asked")
	c.Flags().BoolVar(&a.Opener.Overrides.Unsandboxed, "unsandboxed", false, "agree for commands with --unsandboxed, too")
	c.MarkFlagsMutuallyExclusive("show", "revoke", "yes")
	return c
}

// giveTrust agrees, or asks whether to agree, and shows the result, with the list unless the question showed it.
func giveTrust(ctx context.Context, p *command.Project, show, yes bool) (err error) {
	withheld := p.Trust.Standing == wire.TrustWithheld
	switch {
	case show || !withheld:
	case yes:
		err = p.Grant("option")
	default:
		if err = p.AskTrust(ctx, p.Project); err != nil && !p.AsksTrust() {
			err = &problem.Error{Err: err, Hint: "this isn't a terminal; agree to exactly this: signalbox trust --yes", Code: problem.Untrusted}
		}
	}
	if err != nil {
		return err
	}
	if withheld && !show {
		p.Trust.Standing = wire.TrustAgreed
	}
	if p.JSON {
		review, err := p.ReviewTrust(ctx)
		if err != nil {
			return err
		}
		return p.PrintJSON(review)
	}
	if p.Trust.Standing == wire.TrustEmpty {
		p.Print("nothing in this project's files reaches beyond the sandbox: there is nothing to agree to\n")
		return nil
	}
	if show || !withheld || yes {
		command.ShowTrust(ctx, p.Project, p.Out)
	}
	p.Print("%s\n", map[wire.TrustStanding]string{
		wire.TrustAgreed:   "you agreed to exactly this",
		wire.TrustWithheld: "you have not agreed to this, so it does not count; agree: signalbox trust",
	}[p.Trust.Standing])
	return nil
}
