package command

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// Project is everything that a command works on.
type Project struct {
	*Invocation
	*app.App
}

// Open finds the project around the working directory.
func (a *Invocation) Open(ctx context.Context) (*Project, error) {
	p, err := app.Open(ctx, a.Opener)
	return &Project{a, p}, err
}

// OpenTrusted opens the project for a command that obeys its configuration.
func (a *Invocation) OpenTrusted(ctx context.Context) (*Project, error) {
	p, err := app.Open(ctx, a.Opener)
	if err == nil {
		p, err = p.Trusted(ctx)
	}
	return &Project{a, p}, err
}

// OpenRun opens the project and finds a run in it.
func (a *Invocation) OpenRun(ctx context.Context, ref string) (p *Project, found store.RunSummary, err error) {
	if p, err = a.Open(ctx); err == nil {
		found, err = p.Find(ctx, ref)
	}
	return p, found, err
}

// WarnOfConfig reports a broken configuration to a command that works without one.
func (p *Project) WarnOfConfig() {
	if p.ConfigError != nil {
		p.Warn("%s", p.ConfigError)
	}
}

// Runs completes the numbers of requests whose latest run the command takes; nil takes all. A command of several runs gets no
// number twice.
func Runs(a *Invocation, takes func(app.Listing) bool, several bool) cobra.CompletionFunc {
	return numbers(a, several, func(ctx context.Context, p *Project, latest []store.RunSummary) []app.Listing {
		return slices.DeleteFunc(p.Listings(ctx, latest, nil, true), func(l app.Listing) bool { return takes != nil && !takes(l) })
	})
}

// Requests completes the numbers of requests that aren't merged yet.
func Requests(a *Invocation) cobra.CompletionFunc {
	return numbers(a, true, func(ctx context.Context, p *Project, latest []store.RunSummary) []app.Listing {
		requests, _ := p.Forge.Requests(ctx) // list shows the broken ones
		requests = append(requests, p.OpenIssues(ctx)...)
		return slices.DeleteFunc(p.Listings(ctx, latest, requests, false), func(l app.Listing) bool { return l.State == workflow.Done })
	})
}

func numbers(a *Invocation, several bool, offers func(context.Context, *Project, []store.RunSummary) []app.Listing) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(args) > 0 && !several {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		p, err := a.Open(c.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		latest, err := p.Latest(c.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		}
		for _, l := range offers(c.Context(), p, latest) {
			number, state := strconv.Itoa(l.Number), "new"
			if l.Problem != "" || !strings.HasPrefix(number, begun) || slices.Contains(args, number) {
				continue
			}
			if l.State != "" {
				state = strings.ToLower(l.State.Label())
			}
			words = append(words, cobra.CompletionWithDesc(number, fmt.Sprintf("%s (%s)", redact.Line(l.Title, 60), state)))
		}
		return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// StateIs takes runs in one of these states.
func StateIs(wanted ...workflow.State) func(app.Listing) bool {
	return func(l app.Listing) bool { return slices.Contains(wanted, l.State) }
}
