package cli

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

// complete gives the commands that take a run or a request the words that a
// shell offers for it: numbers, with their titles.
func (a *invocation) complete(root *cobra.Command) {
	waits := func(l app.Listing) bool {
		return l.State == workflow.NeedsInput && l.Phase == string(workflow.ApprovalWait.Step())
	}
	completions := map[string]cobra.CompletionFunc{
		"run":     a.requests(),
		"status":  a.runs(anyState, false),
		"logs":    a.logs,
		"diff":    a.runs(anyState, false),
		"watch":   a.runs(anyState, true),
		"resume":  a.runs(stateIs(workflow.NeedsInput, workflow.Running, workflow.Queued), false),
		"retry":   a.runs(stateIs(workflow.Failed), false),
		"stop":    a.runs(func(l app.Listing) bool { return !l.State.Final() }, false),
		"approve": a.runs(waits, false),
		"reject":  a.runs(waits, false),
		"sync":    a.runs(stateIs(workflow.NeedsInput, workflow.Failed), false),
		"answer":  a.runs(stateIs(workflow.Running), false),
		"note":    a.runs(anyState, false),
	}
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if words := completions[c.Name()]; words != nil {
			c.ValidArgsFunction = words
		}
		if c.Name() == "completion" {
			c.Example = "  source <(signalbox completion bash)\n  signalbox completion fish | source"
		}
	}
}

// runs offers the numbers of requests whose latest run takes the
// command. A command of several runs offers none twice.
func (a *invocation) runs(takes func(app.Listing) bool, several bool) cobra.CompletionFunc {
	return a.words(several, func(ctx context.Context, p *project) []app.Listing {
		latest, err := p.Latest(ctx)
		if err != nil {
			return nil
		}
		return slices.DeleteFunc(p.Listings(ctx, latest, nil, true), func(l app.Listing) bool { return l.Problem != "" || !takes(l) })
	})
}

// requests offers the numbers of requests that are not merged yet.
func (a *invocation) requests() cobra.CompletionFunc {
	return a.words(true, func(ctx context.Context, p *project) []app.Listing {
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

func (a *invocation) words(several bool, offers func(context.Context, *project) []app.Listing) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 && !several {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		p, err := a.open(c.Context())
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

func anyState(app.Listing) bool { return true }

func stateIs(wanted ...workflow.State) func(app.Listing) bool {
	return func(l app.Listing) bool { return slices.Contains(wanted, l.State) }
}

// logs offers runs, and then the logs of the one given.
func (a *invocation) logs(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return a.runs(anyState, false)(c, args, begun)
	}
	p, found, err := a.openRun(c.Context(), args[0])
	if err != nil || len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names, err := (&logReader{project: p, ref: found.Ref, dir: store.RunDir(found.Ref) + "/logs"}).names()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
