package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

func newEnv(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "env",
		Short: "Keep environments.json: which issue is worked on where, and how far it is",
		Long: "One entry for each environment: its issue, branch, pull request, phase, block and open review findings. Runs keep\n" +
			"their own entries; these commands keep everybody's, also without any run and outside of git.",
		Example: "  signalbox env add abc-123 42 feature/auth \"User auth\"\n  signalbox env set-phase abc-123 tdd-green\n" +
			"  signalbox env resume-action abc-123",
	}
	c.AddCommand(newEnvAdd(a), newEnvList(a), newEnvShow(a), newEnvFindByIssue(a), newEnvFindByPR(a), newEnvSetPhase(a), newEnvTouch(a),
		newEnvUpdatePR(a), newEnvMarkMerged(a), newEnvMarkAbandoned(a), newEnvBlock(a), newEnvUnblock(a), newEnvAddFinding(a),
		newEnvResolveFinding(a), newEnvClearFindings(a), newEnvBlocked(a), newEnvResumeAction(a), newEnvRemove(a), newEnvCleanup(a), newEnvDetect(a), newEnvExec(a), newEnvShell(a), newEnvLogs(a), newEnvPorts(a), newEnvCache(a))
	return c
}

// environments reads the document; none is an empty one.
func (a *app) environments(ctx context.Context) (doc workflow.Environments, err error) {
	s, err := a.openStoreToRead(ctx)
	if err != nil {
		return doc, err
	}
	defer func() { _ = s.Close() }()
	return loadEnvironments(ctx, s)
}

func loadEnvironments(ctx context.Context, s *store.Store) (workflow.Environments, error) {
	doc, err := s.Environments().Load(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return workflow.Environments{Environments: []workflow.Environment{}}, nil
	}
	return doc, explained(err)
}

// changeEnvironment performs one operation on an entry and shows what became of it.
func (a *app) changeEnvironment(ctx context.Context, id string, change func(e *workflow.Environment, now time.Time) error) error {
	return a.changeEnvironments(ctx, id, func(doc *workflow.Environments) error {
		e, err := doc.Find(id)
		if err != nil {
			return err
		}
		return change(e, now())
	})
}

func (a *app) changeEnvironments(ctx context.Context, id string, change func(*workflow.Environments) error) error {
	s, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	var after workflow.Environment
	err = s.Environments().Update(ctx, func(doc *workflow.Environments) error {
		if err := change(doc); err != nil {
			return err
		}
		e, err := doc.Find(id)
		if err == nil {
			after = *e
		}
		return err
	})
	if err != nil {
		return environmentProblem(id, err)
	}
	if err := a.warnOfRun(ctx, s, id); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(after)
	}
	a.print("%s\n", summary(&after))
	return nil
}

// environmentProblem adds what to do and the exit code.
func environmentProblem(id string, err error) error {
	switch {
	case errors.Is(err, workflow.ErrNoEnvironment):
		return &problem{err: err, hint: "see what there is: signalbox env list", code: exitNotFound}
	case errors.Is(err, workflow.ErrInvalidEntry):
		return &problem{err: err, hint: "see \"signalbox env --help\"", code: exitUsage}
	case errors.Is(err, workflow.ErrNotApplicable):
		return &problem{err: err, hint: "look at it: signalbox env show " + id}
	}
	return explained(err)
}

// warnOfRun says that the entry is a living run's: the run writes it anew, whatever we wrote.
func (a *app) warnOfRun(ctx context.Context, s *store.Store, id string) error {
	run, holder, err := livingRun(ctx, s, id)
	if err == nil && run != nil {
		a.warn("run %s is alive (pid %d) and writes this entry anew at its next transition", run.Ref(), holder.PID)
	}
	return explained(err)
}

// livingRun is the run that works in the environment at this moment; nil if there is none.
func livingRun(ctx context.Context, s *store.Store, envID string) (*workflow.Run, store.LockRecord, error) {
	holders, err := s.Holders(ctx)
	if err != nil {
		return nil, store.LockRecord{}, err
	}
	for _, h := range holders {
		request, ok := strings.CutPrefix(h.Name, "request-")
		if !ok {
			continue
		}
		latest, err := s.LatestRun(ctx, request)
		if err == nil && latest.Err == nil && latest.Run.Journey.EnvID == envID {
			return &latest.Run, h.Record, nil
		}
	}
	return nil, store.LockRecord{}, nil
}

func (a *app) warn(format string, args ...any) {
	_, _ = fmt.Fprintf(a.Err, "%s %s\n", a.paint(yellow, "warning:"), redact.Clean(fmt.Sprintf(format, args...)))
}

// mended says what was read in an older form.
func (a *app) mended(path string, notes []string) {
	for _, note := range notes {
		_, _ = fmt.Fprintf(a.Err, "%s %s: %s\n", a.paint(yellow, "mended:"), path, redact.Line(note, 300))
	}
}

// summary is one entry on one line.
func summary(e *workflow.Environment) string {
	line := fmt.Sprintf("%s: issue #%d, %s, phase %d %s", e.EnvID, e.IssueNumber, e.Status, e.Phase, e.Step)
	if e.PRNumber != nil {
		line += fmt.Sprintf(", pull request %d", *e.PRNumber)
	}
	if n := len(e.PendingIssues); n > 0 {
		line += fmt.Sprintf(", %d open findings", n)
	}
	return redact.Line(line, 500)
}

func parseNumber(what, text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(text, "#"))
	if err != nil || n < 1 {
		return 0, &problem{err: fmt.Errorf("%q is not the number of %s", text, what), hint: "a whole number from 1 on", code: exitUsage}
	}
	return n, nil
}

// offerEnvironments completes the id of an environment, then one of further.
func (a *app) offerEnvironments(further ...string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(args) == 1 {
			return further, cobra.ShellCompDirectiveNoFileComp
		}
		doc, err := a.environments(c.Context())
		if err != nil || len(args) > 1 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, e := range doc.Environments {
			if strings.HasPrefix(e.EnvID, begun) {
				words = append(words, cobra.CompletionWithDesc(redact.Line(e.EnvID, 200), redact.Line(e.Title, 60)))
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}
