package perform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"signalbox/internal/agent"
	"signalbox/internal/engine"
	"signalbox/internal/environment"
	"signalbox/internal/forge"
	"signalbox/internal/forge/forgetest"
	"signalbox/internal/git"
	"signalbox/internal/place"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

var errDied = errors.New("the process died")

// life ends a process at one of its calls to git or to a port.
type life struct {
	mu sync.Mutex
	// dies says at which instant. Those around a server's calls have names.
	dies func(instant string) bool
	end  context.CancelFunc
	dead bool
}

// step is called before and after each call.
func (l *life) step(instant string) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead = l.dead || l.dies(instant); l.dead {
		l.end()
		return errDied
	}
	return nil
}

// reach is one call of a port: the process may die before it and after it.
func reach[T any](l *life, act func() (T, error)) (T, error) { return reachNamed(l, "", act) }

func reachNamed[T any](l *life, call string, act func() (T, error)) (T, error) {
	var zero T
	if err := l.step("before " + call); err != nil {
		return zero, err
	}
	got, err := act()
	if dead := l.step("after " + call); dead != nil {
		return zero, dead
	}
	return got, err
}

func do(l *life, act func() error) error {
	_, err := reach(l, func() (struct{}, error) { return struct{}{}, act() })
	return err
}

// outside survives the death of a process: a git repository, an environment, a forge, and the bills of an agent.
type outside struct {
	t     *testing.T
	root  string
	store *store.Store
	// repo is asked through exec.
	repo *git.Repo
	exec *ports
	made bool
	// content is that of the only file.
	content string
	pulls   map[string]forge.PullRequest
	merges  []string
	closed  int
	// mergedByHand: a person merges the pull request before it can be closed.
	mergedByHand bool
	// comments by key.
	comments map[string]string
	// forge makes a process's forge; nil is a hub.
	forge func(ports) forge.Forge
	clock engine.Clock
	// access belongs to forge.
	access func() Access
	// known are answers of git that never change.
	known map[string]string
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	return outsideFrom(t, begun(t))
}

// outsideFrom copies a repository.
func outsideFrom(t *testing.T, project fs.FS) *outside {
	t.Helper()
	o := &outside{t: t, root: t.TempDir(), pulls: map[string]forge.PullRequest{}, comments: map[string]string{}, clock: engine.Clock{Now: time.Now, After: time.After}, known: map[string]string{}}
	if err := os.CopyFS(o.root, project); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), store.Config{Root: o.root})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	o.store = s
	return o
}

var beginning struct {
	sync.Once
	project fs.FS
}

// begun is a repository with one commit. It is made once: copying it takes git a hundredth of the time.
func begun(t *testing.T) fs.FS {
	t.Helper()
	beginning.Do(func() {
		o := &outside{t: t, root: t.TempDir()}
		o.git("", "init", "-q", "-b", "main")
		o.git("", "config", "user.name", "Ada")
		o.git("", "config", "user.email", "ada@example.org")
		o.git("", "config", "maintenance.auto", "false")
		if err := os.WriteFile(filepath.Join(o.root, "file.txt"), []byte("before\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		o.git("", "add", "file.txt")
		o.git("", "commit", "-q", "-m", "Begin")
		beginning.project = forgetest.InMemory(t, o.root)
	})
	return beginning.project
}

// ask is git for what never has another answer: what a commit has, and the id of what is written.
func (o *outside) ask(input string, args ...string) string {
	o.t.Helper()
	question := strings.Join(append(args, input), "\x00")
	answer, ok := o.known[question]
	if !ok {
		answer = o.git(input, args...)
		o.known[question] = answer
	}
	return answer
}

// git runs git in the project and returns what it printed.
func (o *outside) git(input string, args ...string) string {
	o.t.Helper()
	c := exec.Command("git", append([]string{"-C", o.root}, args...)...)
	c.Stdin = strings.NewReader(input)
	c.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	out, err := c.CombinedOutput()
	if err != nil {
		o.t.Errorf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// ports connect one process to the outside.
type ports struct {
	*outside
	life *life
}

func (p ports) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	call := ""
	if i := slices.IndexFunc(c.Args, func(arg string) bool { return arg == "push" || arg == "fetch" || arg == "ls-remote" }); i >= 0 {
		call = ofOneThing.ReplaceAllString("git "+strings.Join(c.Args[i:], " "), "*")
	}
	return reachNamed(p.life, call, func() (process.Result, error) { return process.Host{}.Exec(context.WithoutCancel(ctx), c) })
}

// driver and room are environments that keep one file.
type driver struct {
	environment.Driver
	ports
}

func (d driver) dir(s environment.Spec) string { return filepath.Join(d.root, s.Dir) }

func (d driver) Make(_ context.Context, s environment.Spec) (environment.Environment, error) {
	return reach(d.life, func() (environment.Environment, error) {
		if !d.made {
			d.made, d.content = true, d.ask("", "show", s.Commit+":file.txt")+"\n"
		}
		return room{ports: d.ports}, os.MkdirAll(d.dir(s), 0o700)
	})
}

func (d driver) Attach(context.Context, environment.Spec) (environment.Environment, error) {
	return reach(d.life, func() (environment.Environment, error) {
		if !d.made {
			return nil, fs.ErrNotExist
		}
		return room{ports: d.ports}, nil
	})
}

func (d driver) Remove(_ context.Context, s environment.Spec) error {
	return do(d.life, func() error {
		d.made, d.content = false, ""
		return os.RemoveAll(d.dir(s))
	})
}

type room struct{ ports }

func (room) Dir() string         { return "/work" }
func (room) Isolation() string   { return "bubblewrap" }
func (room) Fingerprint() string { return "f" }
func (room) Private() string     { return "" }

func (r room) Exec(_ context.Context, c process.Command) (process.Result, error) {
	return reach(r.life, func() (process.Result, error) {
		if c.Stdout != nil {
			_, _ = fmt.Fprintln(c.Stdout, "ok")
		}
		return process.Result{Ending: process.Exited}, nil
	})
}

func (r room) Restore(ctx context.Context, commit, _ string) (bool, error) {
	return false, r.Reset(ctx, commit, "")
}

func (r room) Snapshot(context.Context, string) error { return do(r.life, func() error { return nil }) }
func (r room) Evict(context.Context, string) error    { return do(r.life, func() error { return nil }) }

func (r room) Read(context.Context, string, int64) ([]byte, error) { return nil, fs.ErrNotExist }

func (r room) record(parent, message string) environment.Change {
	tree := r.ask("100644 blob "+r.ask(r.content, "hash-object", "-w", "--stdin")+"\tfile.txt\n", "mktree")
	if tree == r.ask("", "rev-parse", parent+"^{tree}") {
		return environment.Change{Commit: parent, Tree: tree}
	}
	return environment.Change{Commit: r.ask(message, "commit-tree", tree, "-p", parent), Tree: tree, Changed: true}
}

func (r room) Record(_ context.Context, parent, message string) (environment.Change, error) {
	return reach(r.life, func() (environment.Change, error) { return r.record(parent, message), nil })
}

func (r room) Reset(_ context.Context, commit, keep string) error {
	return do(r.life, func() error {
		if there := r.record(commit, "Kept\n"); there.Changed && keep != "" {
			r.git("", "update-ref", keep, there.Commit)
		}
		r.content = r.ask("", "show", commit+":file.txt") + "\n"
		return nil
	})
}

// worker is an agent in every role. As the implementer it changes the file.
type worker struct{ ports }

func (worker) Name() string                          { return "fake" }
func (worker) Check(context.Context) (string, error) { return "1", nil }

func (w worker) Run(_ context.Context, task agent.Task, _ process.Executor) (agent.Result, error) {
	return reach(w.life, func() (agent.Result, error) {
		answer := "did it"
		switch workflow.Role(task.Role) {
		case workflow.Planner:
			answer = `{"goal_understanding": "g", "selected_environment": {"name": "go", "reason": "r", "detected_files": ["go.mod"], "setup_commands": ["true"],
				"verification": [{"command": "echo ok", "expected_output": "ok"}]},
				"action_plan": {"steps": [{"step_id": "S01", "title": "t", "role": "implementer", "instructions": "i"}]}}`
		case workflow.Reviewer:
			answer = `{"findings": []}`
		default:
			w.content += "changed\n"
		}
		return agent.Result{Answer: answer, Usage: agent.Usage{OutputTokens: 1}}, nil
	})
}

// agreed has an agreement to every setup.
type agreed struct{}

func (agreed) SetUpAgreed(string) (bool, error)    { return true, nil }
func (agreed) AgreeToSetUp(string, []string) error { return nil }

// hub is a forge.
type hub struct {
	forge.Forge
	ports
}

func (h hub) Request(_ context.Context, id string) (forge.Request, error) {
	return reach(h.life, func() (forge.Request, error) {
		return forge.Request{ID: id, Number: 1, Title: "Change it", Body: "Please.", Closed: h.closed > 0}, nil
	})
}

func (h hub) Comment(_ context.Context, _ forge.Request, key, body string) error {
	return do(h.life, func() error { h.comments[key] = body; return nil })
}

func (h hub) OpenPullRequest(_ context.Context, pr forge.PullRequest) (forge.PullRequest, error) {
	return reach(h.life, func() (forge.PullRequest, error) {
		if old, ok := h.pulls[pr.Key]; ok {
			return old, nil
		}
		pr.Number = len(h.pulls) + 1
		h.pulls[pr.Key] = pr
		return pr, nil
	})
}

func (h ports) pull() forge.PullRequest {
	for _, pr := range h.pulls {
		return pr
	}
	return forge.PullRequest{}
}

func (h hub) Checks(context.Context, int) (forge.Check, error) {
	return reach(h.life, func() (forge.Check, error) {
		pr := h.pull()
		return forge.Check{Base: h.git("", "rev-parse", pr.Base), Head: pr.Head, Tree: h.git("", "rev-parse", pr.Head+"^{tree}"), State: forge.CheckPassed, Command: "true"}, nil
	})
}

func (h hub) Merge(_ context.Context, _ int, c forge.Check, _ string) (forge.PullRequest, error) {
	return reach(h.life, func() (forge.PullRequest, error) {
		pr := h.pull()
		if pr.MergeCommit == "" {
			pr.MergeCommit = h.git("Merge\n", "commit-tree", c.Tree, "-p", c.Base, "-p", c.Head)
			h.git("", "update-ref", "refs/heads/"+pr.Base, pr.MergeCommit)
			h.merges, h.pulls[pr.Key] = append(h.merges, pr.MergeCommit), pr
		}
		return pr, nil
	})
}

func (h hub) ClosePullRequest(ctx context.Context, number int) error {
	if pr := h.pull(); h.mergedByHand {
		_, err := h.Merge(ctx, number, forge.Check{Base: h.git("", "rev-parse", pr.Base), Head: pr.Head, Tree: h.git("", "rev-parse", pr.Head+"^{tree}")}, "")
		return errors.Join(err, forge.ErrMerged)
	}
	return do(h.life, func() error {
		pr := h.pull()
		pr.State = forge.Closed
		h.pulls[pr.Key] = pr
		return nil
	})
}

func (h hub) CloseRequest(context.Context, forge.Request, string) error {
	return do(h.life, func() error { h.closed = 1; return nil })
}

// process starts a performer as a new process would, which lives as long as l.
func (o *outside) process(ctx context.Context, l *life) *Performer {
	p := ports{o, l}
	if o.repo == nil {
		o.exec = &ports{o, nil}
		repo, err := git.Open(ctx, o.exec, o.root)
		if err != nil {
			o.t.Error(err)
		}
		o.repo = repo
	}
	o.exec.life = l
	d := driver{ports: p}
	var at forge.Forge = hub{ports: p}
	if o.forge != nil {
		at = o.forge(p)
	}
	return New(Config{Artifacts: o.store, Sessions: o.store.Sessions, Baseline: store.Record[Baseline](o.store, "base", "tested"), Repo: o.repo, Forge: at, Access: o.access, Environments: d, Redact: redact.New(nil), Isolation: "bubblewrap",
		Places: place.New(place.Config{Runs: o.store, Locks: o.store, Registry: o.store.Environments(), Repo: o.repo, Environments: d, Now: o.clock.Now}), Clock: o.clock,
		IssueStatus: func(issue int) engine.Document[registry.IssueStatus] { return o.store.IssueStatus(issue) }, Agreements: agreed{},
		Agents: map[workflow.Role]agent.Agent{workflow.Planner: worker{p}, workflow.Implementer: worker{p}, workflow.Reviewer: worker{p}}})
}

// dying performs each action in processes that die: at the first call of a port, at the second, and so on, until one
// survives the action. Another process then performs it again, as after a crash before the outcome was saved.
type dying struct {
	*outside
	deaths map[workflow.ActionKind]int
	// cancelAt is the action in which a person cancels the run; empty for none.
	cancelAt workflow.ActionKind
	// sampled: a process dies only once at each named instant.
	sampled bool
	// instants are the named ones at which a process died.
	instants map[string]bool
}

func newDying(o *outside) dying {
	return dying{outside: o, deaths: map[workflow.ActionKind]int{}, instants: map[string]bool{}}
}

// live has processes act until one survives, and returns how many died.
func (d dying) live(ctx context.Context, sampled bool, act func(context.Context, *Performer)) (died int) {
	for ; ; died++ {
		living, end := context.WithCancel(ctx)
		passed := 0
		l := &life{end: end, dies: func(instant string) bool {
			if !sampled {
				passed++
				return passed > died
			}
			_, call, _ := strings.Cut(instant, " ")
			fresh := call != "" && !d.instants[instant]
			d.instants[instant] = true
			return fresh
		}}
		act(living, d.process(ctx, l))
		end()
		if !l.dead {
			return died
		}
	}
}

func (d dying) Begin(context.Context, workflow.Run) error         { return nil }
func (d dying) Holder(context.Context, workflow.Run) (int, error) { return 0, nil }
func (d dying) Sweep(context.Context, workflow.Run) error         { return nil }

func (d dying) Admit(ctx context.Context, run workflow.Run, a *workflow.Admitted) error {
	return d.process(ctx, nil).Admit(ctx, run, a)
}

func (d dying) Look(ctx context.Context, run workflow.Run) (workflow.Event, error) {
	return d.process(ctx, nil).Look(ctx, run)
}

func (d dying) Project(ctx context.Context, run workflow.Run) error {
	if d.deaths != nil {
		d.live(ctx, *sweep != "all", func(ctx context.Context, p *Performer) { _ = p.Project(ctx, run) })
	}
	return d.process(ctx, nil).Project(ctx, run)
}

func (d dying) Perform(ctx context.Context, run workflow.Run, a workflow.Action, p engine.Progress) workflow.Event {
	if a.Kind == d.cancelAt {
		err := d.store.Signal(ctx, workflow.RefOf(&run), func(s *workflow.Signals) error {
			s.Commands = append(s.Commands, workflow.Command{ID: "1", Kind: workflow.CommandCancel})
			return nil
		})
		if err != nil {
			d.t.Error(err)
		}
		<-ctx.Done()
		return nil
	}
	var event workflow.Event
	d.deaths[a.Kind] += d.live(ctx, d.sampled, func(ctx context.Context, performer *Performer) { event = performer.Perform(ctx, run, a, p) })
	again := d.process(ctx, nil).Perform(ctx, run, a, p)
	if one, other := comparable(event), comparable(again); one != other {
		d.t.Errorf("%s returned\n%s\nand, performed again,\n%s", a.Kind, one, other)
	}
	return again
}

// comparable returns an event without its duration, which differs between equal events.
func comparable(event workflow.Event) string {
	if e, ok := event.(workflow.TestsEnded); ok {
		e.DurationMS = 0
		event = e
	}
	v := reflect.ValueOf(event)
	if !v.IsValid() {
		return "nothing"
	}
	var text bytes.Buffer
	for i := range v.NumField() {
		if v.Type().Field(i).Name != "Outcome" {
			value, err := json.Marshal(v.Field(i).Interface())
			_, _ = fmt.Fprintf(&text, " %s: %s %v", v.Type().Field(i).Name, value, err)
		}
	}
	return string(workflow.NameOf(event)) + text.String()
}

func TestEveryActionMayBePerformedTwiceAndAfterACrash(t *testing.T) {
	t.Parallel()
	planned := workflow.Settings{HasPlanner: true, HasReviewer: true, Environments: []string{"go"}}
	planned.Workflow, planned.Phases, _ = workflow.WorkflowPhases(workflow.WorkflowFull)
	for name, c := range map[string]struct {
		settings workflow.Settings
		cancelAt workflow.ActionKind
		dies     []workflow.ActionKind
	}{
		"a small run": {settings: workflow.Settings{Workflow: workflow.WorkflowSimple},
			dies: []workflow.ActionKind{workflow.CheckDependencies, workflow.CreateBranch, workflow.CreateEnvironment, workflow.RestoreEnvironment, workflow.CallAgent, workflow.RunTests,
				workflow.RecordChange, workflow.OpenPullRequest, workflow.WatchChecks, workflow.MergePullRequest, workflow.RemoveEnvironment, workflow.CloseRequest}},
		"with a plan, a setup and a review": {settings: planned, dies: []workflow.ActionKind{workflow.RunSetUp, workflow.SnapshotEnvironment, workflow.ReadDesign}},
		"that is canceled": {settings: workflow.Settings{Workflow: workflow.WorkflowSimple}, cancelAt: workflow.WatchChecks,
			dies: []workflow.ActionKind{workflow.ClosePullRequest, workflow.RemoveEnvironment}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDying(newOutside(t))
			d.cancelAt = c.cancelAt
			c.settings.AutoApprove, c.settings.Tests, c.settings.Limits = true, []string{"true"}, workflow.DefaultLimits()
			run := d.execute(t, c.settings)
			for _, kind := range c.dies {
				if d.deaths[kind] == 0 {
					t.Errorf("no process died in %s: %v", kind, d.deaths)
				}
			}
			if kept := d.git("", "for-each-ref", "refs/signalbox/kept/1"); !strings.Contains(kept, "refs/signalbox/kept/1/") || d.made {
				t.Errorf("the work of an interrupted call is on no ref: %q; an environment is left: %t", kept, d.made)
			}
			if c.cancelAt != "" {
				if run.State != workflow.Canceled || len(d.merges) != 0 || (ports{d.outside, nil}).pull().State != forge.Closed {
					t.Errorf("the run is %s, %+v; %d merges", run.State, run.Error, len(d.merges))
				}
				return
			}
			if run.State != workflow.Done || len(d.merges) != 1 || len(d.pulls) != 1 || d.closed != 1 {
				t.Fatalf("the run is %s, %+v; %d merges, %d pull requests, closed %d times", run.State, run.Error, len(d.merges), len(d.pulls), d.closed)
			}
			if got := d.git("", "show", "main:file.txt"); got != "before\nchanged" {
				t.Errorf("merged %q: the work of an interrupted call must take no part", got)
			}
		})
	}
}

func TestARunThatWasMergedMeanwhileIsNotGivenUp(t *testing.T) {
	t.Parallel()
	d := newDying(newOutside(t))
	d.cancelAt, d.mergedByHand = workflow.WatchChecks, true
	run := d.execute(t, workflow.Settings{Workflow: workflow.WorkflowSimple, AutoApprove: true, Tests: []string{"true"}, Limits: workflow.DefaultLimits()})
	if run.State != workflow.Done || len(d.merges) != 1 || run.Details.MergeCommit != d.merges[0] || d.closed != 1 || d.made {
		t.Errorf("the run is %s, %+v, merged as %q; %d merges, closed %d times", run.State, run.Error, run.Details.MergeCommit, len(d.merges), d.closed)
	}
}

// execute executes a new run as far as possible.
func (d dying) execute(t *testing.T, s workflow.Settings) workflow.Run {
	t.Helper()
	run := workflow.New(workflow.Start{RequestID: "RQ-20260101-001", RunID: "20260101-120000-abcdef", Number: 1, Title: "Change it", RequestPath: "requests/1.md",
		Branch: "signalbox/1-change-it", Base: "main", Settings: s}, time.Now().UTC())
	if err := d.store.CreateRun(t.Context(), &run); err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Config{Runs: d.store, Locks: d.store, Performer: d, Clock: d.clock})
	run, err := e.Run(t.Context(), run.RequestID, "test", func(context.Context) (workflow.RunRef, error) { return workflow.RefOf(&run), nil })
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestALostEnvironmentIsMadeAgainAtTheRecordedChange(t *testing.T) {
	t.Parallel()
	o := newOutside(t)
	base := o.git("", "rev-parse", "HEAD")
	made := room{ports: ports{o, nil}}
	made.content = "after\n"
	recorded := made.record(base, "Change\n").Commit
	run := atRecorded()
	run.Details.BaseCommit, run.Details.Head, run.Details.StepBase, o.made = base, recorded, recorded, false
	env, err := o.process(t.Context(), nil).of(run).environment(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if change, err := env.Record(t.Context(), recorded, "Next\n"); err != nil || change.Changed {
		t.Errorf("recorded next: %+v, %v, want the change that was recorded before", change, err)
	}
}
