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
	var how struct{ show, revoke, yes bool }
	c := &cobra.Command{
		Use:  "trust",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			a.Opener.LooksAtTrust = true
			if how.revoke {
				return revokeTrust(c.Context(), a)
			}
			return giveTrust(c.Context(), a, how.show, how.yes)
		},
	}
	c.Flags().BoolVar(&how.show, "show", false, "only show the list")
	c.Flags().BoolVar(&how.revoke, "revoke", false, "forget what you agreed to in this project")
	c.Flags().BoolVarP(&how.yes, "yes", "y", false, "agree without being asked")
	c.MarkFlagsMutuallyExclusive("show", "revoke", "yes")
	return c
}

func giveTrust(ctx context.Context, a *command.Invocation, show, yes bool) error {
	p, err := a.Open(ctx)
	if err == nil {
		err = p.ConfigError
	}
	if err != nil {
		return err
	}
	defer func() { _ = p.Store.Close() }()
	withheld := p.Trust.Standing == wire.TrustWithheld
	switch {
	case show || !withheld:
	case yes:
		err = p.Grant("option")
	default:
		if err = a.AskTrust(ctx, p.Project); problem.CodeOf(err) == problem.Untrusted {
			err = &problem.Error{Err: err, Hint: "nobody can be asked here; agree to exactly this: signalbox trust --yes", Code: problem.Untrusted}
		}
	}
	if err != nil {
		return err
	}
	if withheld && !show {
		p.Trust.Standing = wire.TrustAgreed
	}
	if a.JSON {
		review, err := p.ReviewTrust(ctx)
		if err != nil {
			return err
		}
		return p.PrintJSON(review)
	}
	sayTrust(ctx, p, show || !withheld || yes)
	return nil
}

// sayTrust says how things are, with the list unless it was shown already.
func sayTrust(ctx context.Context, p *command.Project, list bool) {
	if p.Trust.Standing == wire.TrustEmpty {
		p.Print("nothing in this project's files reaches beyond the sandbox: there is nothing to agree to\n")
		return
	}
	if list {
		command.ShowTrust(ctx, p.Project, p.Out)
	}
	p.Print("%s\n", map[wire.TrustStanding]string{
		wire.TrustAgreed:   "you agreed to exactly this",
		wire.TrustOwn:      "no commit brought this: it is yours, and counts",
		wire.TrustWithheld: "you have not agreed to this, so it does not count; agree: signalbox trust",
	}[p.Trust.Standing])
}

func revokeTrust(ctx context.Context, a *command.Invocation) error {
	p, err := a.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = p.Store.Close() }()
	n, err := p.RevokeTrust()
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]int{"revoked": n})
	}
	if n == 0 {
		a.Print("you had agreed to nothing here\n")
		return nil
	}
	a.Print("%s forgotten; you are asked again before anything of it counts\n", commandline.Count(n, "agreement"))
	return nil
}
