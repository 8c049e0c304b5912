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
	"signalbox/internal/workflow"
)

// Runs offers the numbers of requests whose latest run takes the
// command. A command of several runs offers none twice.
func Runs(a *Invocation, takes func(app.Listing) bool, several bool) cobra.CompletionFunc {
	return words(a, several, func(ctx context.Context, p *Project) []app.Listing {
		latest, err := p.Latest(ctx)
		if err != nil {
			return nil
		}
		return slices.DeleteFunc(p.Listings(ctx, latest, nil, true), func(l app.Listing) bool { return l.Problem != "" || !takes(l) })
	})
}

// Requests offers the numbers of requests that are not merged yet.
func Requests(a *Invocation) cobra.CompletionFunc {
	return words(a, true, func(ctx context.Context, p *Project) []app.Listing {
		latest, err := p.Latest(ctx)
		if err != nil {
			return nil
		}
		requests, _ := p.Forge.Requests(ctx) // the broken ones are list's to show
		return slices.DeleteFunc(p.Listings(ctx, latest, requests, false), func(l app.Listing) bool {
			return l.Problem != "" || l.State == workflow.Done
		})
	})
}

func words(a *Invocation, several bool, offers func(context.Context, *Project) []app.Listing) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 && !several {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		p, err := a.Open(c.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return offered(offers(c.Context(), p), args, begun), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

func offered(lines []app.Listing, args []string, begun string) (words []cobra.Completion) {
	for _, l := range lines {
		number := strconv.Itoa(l.Number)
		if !strings.HasPrefix(number, begun) || slices.Contains(args, number) {
			continue
		}
		state := "new"
		if l.State != "" {
			state = strings.ToLower(l.State.Label())
		}
		words = append(words, cobra.CompletionWithDesc(number, fmt.Sprintf("%s (%s)", redact.Line(l.Title, 60), state)))
	}
	return words
}

func AnyState(app.Listing) bool { return true }

func StateIs(wanted ...workflow.State) func(app.Listing) bool {
	return func(l app.Listing) bool { return slices.Contains(wanted, l.State) }
}
