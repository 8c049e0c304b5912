package env

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/forge"
	"signalbox/internal/forge/local"
	"signalbox/internal/git"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func newEnvResumeAction(a *command.Invocation) *cobra.Command {
	var pr string
	states := []string{string(registry.PRNone), string(registry.PROpen), string(registry.PRMerged), string(registry.PRClosed)}
	c := &cobra.Command{
		Use:   "resume-action ENV_ID|ISSUE",
		Short: "Say how to recover an abandoned environment",
		Long: "Print the one action that goes on with the work: create_new where there is no entry, notify_human where a person is\n" +
			"needed, else the action of its phase and step. A number that is no environment's id is an issue's. The pull\n" +
			"request's state is looked up where it can be; otherwise give it. Where that makes the entry's status another one, the\n" +
			"command that records it is printed too. Nothing is changed.",
		Example:           "  signalbox env resume-action abc-123\n  signalbox env resume-action 42\n  signalbox env resume-action abc-123 --pr-state merged\n  signalbox env resume-action abc-123 --json | jq -r .action",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: offerEnvironments(a),
		RunE: func(c *cobra.Command, args []string) error {
			if known := " " + strings.Join(states, " ") + " "; pr != "" && !strings.Contains(known, " "+pr+" ") {
				return &problem.Error{Err: fmt.Errorf("--pr-state is %q", pr), Hint: "want one of" + known, Code: problem.Usage}
			}
			return resumeAction(c.Context(), a, args[0], registry.PRState(pr))
		},
	}
	c.Flags().StringVar(&pr, "pr-state", "", "none, open, merged or closed: what became of its pull request")
	_ = c.RegisterFlagCompletionFunc("pr-state", cobra.FixedCompletions(states, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func resumeAction(ctx context.Context, a *command.Invocation, id string, pr registry.PRState) error {
	s, doc, err := openEnvironments(ctx, a, true)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	var action registry.ResumeAction
	if e := named(&doc, id); e == nil {
		action = registry.Recover(nil, registry.Surroundings{})
	} else {
		seen, err := surroundings(ctx, s, e, pr)
		if err != nil {
			return wire.Explained(err)
		}
		action = registry.Recover(e, seen)
	}
	if a.JSON {
		return a.PrintJSON(action)
	}
	printResumeAction(a, &action)
	return nil
}

// named is the entry with an id, or the one to go on with of the issue with that number; nil if there is neither.
func named(doc *registry.Environments, name string) *registry.Environment {
	if e, err := doc.Find(name); err == nil {
		return e
	}
	issue, err := app.ParseIssue(name)
	if err != nil {
		return nil
	}
	if found := doc.ByIssue(issue); len(found) > 0 {
		return &found[0]
	}
	return nil
}

// surroundings are what can be seen from here without asking another machine.
func surroundings(ctx context.Context, s *store.Store, e *registry.Environment, pr registry.PRState) (seen registry.Surroundings, err error) {
	seen.PR = pr
	if pr == "" {
		if seen.PR, seen.PRNumber, err = recordedPR(ctx, s, e); err != nil {
			return seen, err
		}
	}
	run, err := runOfEnvironment(ctx, s, e.EnvID)
	if err != nil || run == nil || run.Details.EnvRemoved {
		return seen, err
	}
	dir, err := s.Abs(run.Details.EnvPath)
	if err != nil {
		return seen, err
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		return seen, err
	}
	seen.Gone = true
	seen.Ref, err = refOf(ctx, s, run)
	return seen, err
}

// recordedPR is what the local forge knows of the entry's pull request. A
// number alone may be another forge's: the branch must be the same.
func recordedPR(ctx context.Context, s *store.Store, e *registry.Environment) (registry.PRState, int, error) {
	root, err := s.Abs(".")
	if err != nil {
		return "", 0, err
	}
	pulls := local.New(local.Config{Store: s, Root: root})
	var found forge.PullRequest
	if e.PRNumber != nil {
		found, err = pulls.PullRequest(ctx, *e.PRNumber)
	} else {
		found, err = pulls.PullRequestOf(ctx, e.Branch)
	}
	if errors.Is(err, forge.ErrNotFound) || err == nil && found.Branch != e.Branch {
		return "", 0, nil
	}
	return registry.PRState(found.State), found.Number, err
}

// refOf is the ref that leads to the commits of a run's environment; empty if there is none.
func refOf(ctx context.Context, s *store.Store, run *workflow.Run) (string, error) {
	root, err := s.Abs(".")
	if err != nil {
		return "", err
	}
	repo, err := git.Open(ctx, process.Host{}, root)
	if errors.Is(err, git.ErrNotRepository) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for _, ref := range []string{"refs/heads/" + run.Details.Branch, "refs/signalbox/environments/" + run.Details.EnvID, run.Details.KeptRef} {
		if ref == "" {
			continue
		}
		_, err := repo.Resolve(ctx, ref)
		if err == nil || !errors.Is(err, git.ErrNotFound) {
			return ref, err
		}
	}
	return "", nil
}

func printResumeAction(a *command.Invocation, r *registry.ResumeAction) {
	field := func(name, value string) {
		if value != "" {
			a.Print("%-17s %s\n", name+":", redact.Line(value, 400))
		}
	}
	field("action", r.Action)
	field("env_id", r.EnvID)
	field("branch", r.Branch)
	if r.PRNumber != nil {
		field("pr_number", fmt.Sprint(*r.PRNumber))
	}
	if r.Phase != nil {
		field("phase", fmt.Sprint(int(*r.Phase)))
	}
	field("step", string(r.Step))
	field("ref", r.Ref)
	field("message", r.Message)
	field("suggested_action", r.SuggestedAction)
	for _, finding := range r.PendingIssues {
		field("pending_issue", finding)
	}
	field("record first", recordCommand(r))
	if r.Warning != "" {
		a.Warn("%s", r.Warning)
	}
}

// recordCommand records what the action presupposes.
func recordCommand(r *registry.ResumeAction) string {
	switch {
	case r.Record == registry.EnvironmentMerged:
		return "signalbox env mark-merged " + commandline.ShellWord(r.EnvID)
	case r.Record == registry.EnvironmentAbandoned:
		return "signalbox env mark-abandoned " + commandline.ShellWord(r.EnvID)
	case r.Record == registry.EnvironmentPRCreated && r.PRNumber != nil:
		return fmt.Sprintf("signalbox env update-pr %s %d", commandline.ShellWord(r.EnvID), *r.PRNumber)
	}
	return ""
}
