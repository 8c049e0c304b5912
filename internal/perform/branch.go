package perform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"signalbox/internal/git"
	"signalbox/internal/perform/inspect"
	"signalbox/internal/place"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
)

// branchAt returns the commit of the run's branch; empty if there is no such branch.
func (x *execution) branchAt(ctx context.Context) (string, error) {
	at, err := x.Repo.Resolve(ctx, x.branchRef())
	if errors.Is(err, git.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("find branch %q: %w", x.run.Details.Branch, err)
	}
	return at, nil
}

// Look implements engine.Performer. It reports whether a person moved the branch. It first saves their work on a ref, whatever
// the decision.
func (p *Performer) Look(ctx context.Context, run workflow.Run) (workflow.Event, error) {
	x := p.of(run)
	j := x.run.Details
	if j.Head == "" || j.EnvRemoved || !x.run.UnderWay() {
		return nil, nil //nolint:nilnil // nothing can have moved
	}
	at, err := x.branchAt(ctx)
	if err != nil || at == j.Head {
		return nil, err
	}
	if at == "" {
		return workflow.BranchMoved{Commit: at}, nil
	}
	e, err := x.branchFacts(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("look at branch %q: %w", j.Branch, err)
	}
	return e, nil
}

// maxAuthors is how many authors of a person's commits are named.
const maxAuthors = 3

func (x *execution) branchFacts(ctx context.Context, at string) (e workflow.BranchMoved, err error) {
	j := x.run.Details
	e = workflow.BranchMoved{Commit: at, KeptRef: place.KeptRef(&x.run, at)}
	if e.OnTop, err = x.Repo.IsAncestor(ctx, j.Head, at); err != nil {
		return e, err
	}
	commits, err := x.Repo.Log(ctx, j.Head, at, 1000)
	if err != nil {
		return e, err
	}
	e.Commits = len(commits)
	for _, c := range commits {
		if name := redact.Line(x.Redact.String(c.Author), 60); !slices.Contains(e.By, name) && len(e.By) < maxAuthors {
			e.By = append(e.By, name)
		}
	}
	if e.Commits == 0 { // it was only reset
		return e, nil
	}
	if err = x.Places.SaveWork(ctx, &x.run, at); err == nil && e.OnTop {
		e.Whole, e.Concerns, e.Tests, err = x.wholeFacts(ctx, at)
	}
	for _, c := range commits { // their messages are published with them; Signalbox masks only its own
		text := []byte(c.Message + "\n" + c.Author)
		for _, f := range append(x.Redact.Find(text), redact.Concealed(text)...) {
			found := x.inspector().Concern("", f)
			found.Commit = c.ID
			e.Concerns = append(e.Concerns, found)
		}
	}
	return e, err
}

// wholeFacts returns the files of the whole change at a commit, its concerns, and the tests that it touches. The whole change has a
// person's commits, but not what they merged from the base branch.
func (x *execution) wholeFacts(ctx context.Context, at string) (files []policy.FileChange, concerns []policy.Concern, tests []policy.TestFile, err error) {
	from, err := place.Before(ctx, x.Repo, &x.run, at)
	var whole []git.Change
	if err == nil {
		whole, err = x.Repo.Changes(ctx, from, at)
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("read whole change: %w", err)
	}
	text := ""
	if request, err := x.theRequest(ctx); err == nil {
		text = request.Title + "\n" + request.Body
	}
	if concerns, err = x.inspector().Concerns(ctx, text, whole); err == nil {
		tests, err = x.inspector().Tests(ctx, whole)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	files = x.fileChanges(whole)
	links, err := x.Repo.Links(ctx, from, workspace)
	for i := range files {
		files[i].LinkedAs = linkedAs(links, files[i].Path)
	}
	return files, concerns, tests, err
}

func (x *execution) inspector() inspect.Inspector {
	return inspect.Inspector{Repo: x.Repo, Redact: x.Redact}
}

// workspace is where tests see the project, in a sandbox and in a container.
const workspace = "/workspace"

// linkedAs returns the paths by which links lead to a file, through other links too.
func linkedAs(links map[string]string, file string) (all []string) {
	const enough = 50 // links to folders above themselves never end
	names := []string{file}
	for i := 0; i < len(names) && len(names) <= enough; i++ {
		for link, to := range links {
			rest, below := strings.CutPrefix(names[i], to)
			if name := link + rest; below && (rest == "" || rest[0] == '/') && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	all = names[1:]
	slices.Sort(all)
	return all
}

// mergeBase merges the base branch's present commit into the change, with conflict markers if the two conflict. After a crash
// it makes another commit; nothing refers to the first.
func (x *execution) mergeBase(ctx context.Context, o workflow.Outcome, _ workflow.Action) (workflow.Event, error) {
	j := x.run.Details
	base, err := place.Base(ctx, x.Repo, j.Base)
	if err != nil {
		return nil, err
	}
	event := workflow.BaseMerged{Outcome: o, Base: base, Commit: j.Head}
	if within, err := x.Repo.IsAncestor(ctx, base, j.Head); err != nil || within {
		return event, err
	}
	tree, conflicts, err := x.Repo.MergeTree(ctx, j.Head, base)
	if err != nil {
		return nil, fmt.Errorf("merge %q into the change: %w", j.Base, err)
	}
	for _, path := range conflicts {
		event.Conflicts = append(event.Conflicts, x.clean(path))
	}
	left := ""
	if len(conflicts) > 0 {
		left = ", conflicts unresolved"
	}
	message := fmt.Sprintf("Merge %s into the change%s\n\nSignalbox-Request: %s\n", j.Base, left, x.run.RequestID)
	if event.Commit, err = x.Repo.CommitTree(ctx, tree, []string{j.Head, base}, message, place.Merger, x.Clock.Now()); err != nil {
		return nil, err
	}
	if event.Whole, event.Concerns, event.Tests, err = x.wholeFacts(ctx, event.Commit); err != nil {
		return nil, err
	}
	return event, nil
}

// maxMarked is how much of a file is searched for conflict markers, in bytes.
const maxMarked = 4 << 20

// unresolved returns the files that still have the conflict markers that the agent had to resolve.
func (x *execution) unresolved(ctx context.Context, commit string) (left []string, err error) {
	for _, path := range x.run.Details.Conflicts {
		text, err := x.Repo.ReadBlob(ctx, commit, path, maxMarked)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look for conflict markers in %q: %w", path, err)
		}
		if bytes.HasPrefix(text, []byte("<<<<<<< ")) || bytes.Contains(text, []byte("\n<<<<<<< ")) {
			left = append(left, path)
		}
	}
	return left, nil
}
