package tui

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"signalbox/internal/app"
	"signalbox/internal/app/apptest"
	"signalbox/internal/app/background"
	"signalbox/internal/app/board"
	"signalbox/internal/engine"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

var update = flag.Bool("update", false, "write the screens in testdata anew")

// child makes this test binary the program that carries runs, and that commands are given to.
const child = "SIGNALBOX_TUI_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(child) != "" {
		os.Exit(signalbox(context.Background(), os.Args[1:]))
	}
	_ = os.Setenv(child, "1")
	os.Exit(m.Run())
}

func opener(dir string) *app.Opener {
	o := &app.Opener{Env: os.Getenv, Dir: dir, Log: slog.New(slog.DiscardHandler), Warn: func(string, ...any) {}, Mended: func(string, []string) {}, Learn: func(*redact.Redactor) {}}
	o.Overrides.Unsandboxed, o.Overrides.Trust = true, true
	return o
}

// signalbox carries a run or stops it, as the program does; of other commands it prints what they are.
func signalbox(ctx context.Context, args []string) int {
	if args[0] != "run" {
		_, _ = fmt.Printf("command %q\n", args)
		return 0
	}
	p, err := app.Open(ctx, opener("."))
	if err == nil {
		var done []app.Result
		done, err = p.StartRuns(ctx, args[2:], func(*app.App) func(workflow.Run) { return func(workflow.Run) {} })
		if err == nil && done[0].Err == nil {
			return map[workflow.State]int{workflow.NeedsInput: problem.NeedsInput, workflow.Failed: problem.Failed}[done[0].Run.State]
		}
	}
	_, _ = fmt.Fprintln(os.Stderr, "error:", err)
	return 1
}

// person is someone at a terminal of a project.
type person struct {
	testing.TB
	*tea.Program
	model *model
	out   *strings.Builder // what reaches the terminal

	mu     sync.Mutex
	screen string
	drawn  chan struct{}
}

// watched is the model with a person who looks.
type watched struct {
	*model
	p *person
}

func (w watched) Update(msg tea.Msg) (tea.Model, tea.Cmd) { return w, w.update(msg) }

func (w watched) View() tea.View {
	v := w.model.View()
	w.p.mu.Lock()
	w.p.screen = ansi.Strip(v.Content)
	w.p.mu.Unlock()
	select {
	case w.p.drawn <- struct{}{}:
	default:
	}
	return v
}

func config(t testing.TB, dir string) Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Config{Open: func(ctx context.Context) (context.Context, *app.App, func(), error) {
		p, err := app.Open(ctx, opener(dir))
		if err != nil {
			return ctx, nil, nil, err
		}
		return ctx, p, func() { _ = p.Store.Close() }, nil
	}, Starter: background.Starter{Program: self}, Program: self, Env: os.Environ(), Now: time.Now}
}

// sits has a person look at the project, at 100 columns.
func sits(t testing.TB, dir string, env ...string) *person {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context())) // it quits before
	m, closeProject, err := newModel(ctx, config(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	p := &person{TB: t, model: m, out: &strings.Builder{}, drawn: make(chan struct{}, 1)}
	p.Program = tea.NewProgram(watched{m, p}, tea.WithContext(ctx), tea.WithInput(nil), tea.WithOutput(p.out), tea.WithoutSignals(), tea.WithWindowSize(100, 30),
		tea.WithEnvironment(append([]string{"TERM=xterm-256color"}, env...)))
	f := &frames{program: p.Program}
	m.drawn = f.wanted
	ended := make(chan error, 1)
	go func() {
		_, err := p.Run()
		ended <- err
	}()
	t.Cleanup(func() {
		p.Quit()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		cancel()
		closeProject()
		if f.ticker == nil {
			t.Error("the library's ticker was not found: it draws sixty times a second though nothing changes")
		}
	})
	return p
}

// sees waits until the screen has all of texts.
func (p *person) sees(texts ...string) {
	p.Helper()
	late := time.After(60 * time.Second)
	for {
		p.mu.Lock()
		screen := p.screen
		p.mu.Unlock()
		missing := ""
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				missing = text
			}
		}
		if missing == "" {
			return
		}
		select {
		case <-p.drawn:
		case <-late:
			p.Fatalf("there is no %q on the screen:\n%s", missing, screen)
		}
	}
}

// types presses keys: names such as "enter", or texts in which each character is a key.
func (p *person) types(keys ...string) {
	p.Helper()
	named := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "down": tea.KeyDown, "up": tea.KeyUp, "backspace": tea.KeyBackspace, "home": tea.KeyHome, "end": tea.KeyEnd,
		"pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp}
	for _, k := range keys {
		if code, ok := named[k]; ok {
			p.Send(tea.KeyPressMsg{Code: code})
			continue
		}
		for _, r := range k {
			p.Send(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

// put writes a run as another process would have left it.
func put(t testing.TB, p *app.App, number int, change func(*workflow.Run)) workflow.Run {
	t.Helper()
	run := workflow.New(workflow.Start{RequestID: fmt.Sprintf("RQ-20260101-%03d", number), RunID: "20260101-000000-aaaaaa", Number: number, Title: "Greet the world", Branch: "b", Base: "main"}, time.Now().UTC())
	change(&run)
	if err := p.Store.CreateRun(t.Context(), &run); err != nil {
		t.Fatal(err)
	}
	return run
}

func TestAPersonCarriesARequestToItsMergeByKeys(t *testing.T) {
	t.Parallel()
	dir := apptest.Make(t, apptest.Greeting)
	p := sits(t, dir)
	p.sees("Waiting 1", "› ", "#7 Greet the world", "R run")
	p.types("d")
	p.sees("Not begun")
	p.types("R")
	p.sees("Run this request?")
	p.types("x") // no
	p.sees("R run")
	p.types("R", "y")
	p.sees("Ready to merge 1", "a approve")
	p.types("l")
	p.sees("3/3 unit-tests", "exit code 0")
	p.types("[")
	p.sees("2/3 ")
	p.types("]", "i", "esc", "r")
	p.sees("What to change")
	p.types("shout", "backspace", "t it", "esc")
	p.sees("Ready to merge 1")
	p.types("r", "shout it", "enter")
	p.sees("Ready to merge 1", "Sent back.")
	if run := p.run(7); len(run.Details.Findings) == 0 && run.Details.Fixes == 0 && !strings.Contains(fmt.Sprint(run.Details), "shout it") {
		t.Errorf("it was not sent back: %+v", run.Details)
	}
	p.types("enter")
	p.sees("APPROVAL_REQUIRED", "agree after all")
	p.types("d")
	p.sees("1/1 greeting.txt +1 −1", "+hello world", "-hello")
	p.types("i")
	p.sees("✓ branch-create")
	p.types("a")
	head := p.run(7).Details.Head
	p.sees("Approves exactly this commit", head, "greeting.txt +1 −1", "main")
	p.types("n")
	p.sees("esc back")
	p.types("esc", "a")
	p.sees(head)
	p.types("y")
	p.sees("Done 1", "Ready to merge 0")
	if text, err := os.ReadFile(filepath.Join(dir, "greeting.txt")); err != nil || string(text) != "hello world\n" {
		t.Errorf("merged is %q, %v", text, err)
	}
}

func (p *person) run(number int) workflow.Run {
	p.Helper()
	found, err := p.model.look.Find(p.Context(), fmt.Sprint(number))
	if err != nil {
		p.Fatal(err)
	}
	return found.Run
}

func TestEachKeyDoesWhatItSays(t *testing.T) {
	t.Parallel()
	dir := apptest.Make(t, apptest.Greeting)
	project := apptest.Open(t, dir)
	lock, err := project.Store.LockRequest(t.Context(), "RQ-20260101-008", engine.Owner{Name: "run 8"})
	if err != nil {
		t.Fatal(err)
	}
	put(t, project, 8, func(r *workflow.Run) {
		r.State, r.Title = workflow.Running, "Asks before it deletes"
		r.Details.Phase = workflow.TDDGreen
		r.Details.Question = &workflow.Question{ID: "Q1", Role: "implementer", Kind: workflow.PermissionQuestion, Tool: "Bash", Text: "rm -r build", AskedAt: time.Now(), Until: time.Now().Add(time.Hour)}
	})
	p := sits(t, dir)
	signals := func() workflow.Signals { return p.run(8).Signals }

	p.sees("Needs you 1", "Waiting 1", "› ", "#8 Asks before", "It asks you: ")
	p.types("A")
	p.sees("The implementer asks:", "Bash: rm -r build", "allow, always, or deny")
	p.types("perhaps", "enter")
	p.sees("That is no answer")
	p.types("A", "deny not that", "enter")
	p.sees("In progress")
	for !strings.Contains(fmt.Sprint(signals().Commands), "answer") {
		if p.Context().Err() != nil {
			t.Fatal("no answer was left")
		}
	}
	if answer := signals().Commands[0].Answer; answer.Verdict != workflow.AnswerDeny || answer.Text != "not that" {
		t.Errorf("the answer is %+v", answer)
	}
	p.types("s")
	p.sees("Stop this run?")
	p.types("y")
	for !signals().StopRequested {
		if p.Context().Err() != nil {
			t.Fatal("no stop was ordered")
		}
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	p.sees("the process that carried it ended") // before it took the answer
	p.types("down", "up", "down")
	p.sees("› ", "R run")
	p.types("1")
	p.types("enter")
	p.sees("#8 Asks before it deletes", "rm -r build")
	p.types("enter")
	p.sees("No session works on request 8")
	p.types("l")
	p.sees("Nothing is printed yet.")
	p.types("d")
	p.sees("There is no change yet.")
	p.types("?")
	p.sees("Keyboard shortcuts", "approve")
	p.types("end")
	p.sees("ctrl+z")
	p.types("home", "pgdown", "pgup", "esc")
	p.types("/", "delet")
	p.sees("Waiting 0", "/delet")
	p.types("x", "enter")
	p.sees("Nothing matches")
	p.types("esc")
	p.sees("Waiting 1")
	p.types("1", ":", "status", "enter")
	p.sees(`command ["status" "8"]`)
	p.types("esc", ":", "note ask Ada first", "enter")
	p.sees(`command ["note" "8" "ask Ada first"]`)
	p.types("esc", ":", "doctor", "enter")
	p.sees(`command ["doctor"]`)
	p.types("esc", ":", "retry", "enter")
	p.sees("only a failed run is retried")
	p.types(":", "stop --cancel", "enter")
	p.sees("Give this run up?")
	p.types("n", ":", "new Second request", "enter")
	p.sees("Waiting 2", "#8 Second request", "Request 8 is there.")
	p.types("n")
	p.sees("What should be different")
	p.Send(tea.PasteMsg{Content: "Third\x1b]52;c;aGk=\x07 one\nwith two lines"})
	p.sees("> Third one with two lines")
	p.types("enter")
	p.sees("Waiting 3", "#9 Third one")
	p.Send(tea.PasteMsg{Content: "qqq"}) // keys that are pasted are no keys
	p.Send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	p.Send(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	p.Send(tea.MouseClickMsg{X: 10, Y: 2})
	p.Send(tea.MouseClickMsg{X: 10, Y: 2})
	p.sees("esc back", "rm -r build")
}

func TestABoardSaysWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	p := sits(t, apptest.Make(t, map[string]string{".signalbox/config.yaml": "tests: [\n"}))
	p.sees("Waiting 0", "config.yaml", "--print")
	p.types(":", "q!", "enter")
	p.Wait()
}

// A request that was given up and begun again has a run whose questions and transitions count from one again.
func TestAnOrderIsOfTheRunThatWasShown(t *testing.T) {
	t.Parallel()
	dir := apptest.Make(t, apptest.Greeting)
	project := apptest.Open(t, dir)
	lock, err := project.Store.LockRequest(t.Context(), "RQ-20260101-008", engine.Owner{Name: "run 8"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Release() }()
	asks := func(r *workflow.Run) {
		r.State, r.Details.Phase = workflow.Running, workflow.TDDGreen
		r.Details.Question = &workflow.Question{ID: "Q1", Role: "implementer", Kind: workflow.PermissionQuestion, Tool: "Bash", Text: "rm -r build", AskedAt: time.Now(), Until: time.Now().Add(time.Hour)}
	}
	put(t, project, 8, asks)
	m, closeProject, err := newModel(t.Context(), config(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	defer closeProject()
	c, shown, err := board.One(t.Context(), project, "RQ-20260101-008")
	if err != nil || !shown {
		t.Fatal(shown, err)
	}
	again := put(t, project, 8, func(r *workflow.Run) { asks(r); r.RunID = "20260101-000001-aaaaaa" })
	for name, order := range map[string]tea.Cmd{"allow": m.answerWith(&c, "allow"), "stop": m.end(&c, false), "cancel": m.end(&c, true), "begin": m.begin(&c), "retry": m.give(&c, app.Retry())} {
		if done, ok := order().(ordered); !ok || problem.CodeOf(done.err) != problem.Held {
			t.Errorf("%s of an earlier run is answered with %+v", name, done)
		}
	}
	if now, err := project.Store.LoadRun(t.Context(), workflow.RefOf(&again)); err != nil || now.Signals.StopRequested || len(now.Signals.Commands) > 0 {
		t.Errorf("the new run got %+v, %v", now.Signals, err)
	}
}

func TestNoColorMeansNone(t *testing.T) {
	t.Parallel()
	var p *person
	t.Cleanup(func() { // after it quit
		if drawn := p.out.String(); strings.Contains(drawn, "\x1b[31m") || strings.Contains(drawn, "36m") || !strings.Contains(drawn, "Keyboard") {
			t.Errorf("it draws %q", drawn)
		}
	})
	p = sits(t, apptest.Make(t, apptest.Greeting), "NO_COLOR=1")
	p.sees("Waiting 1", "› ")
	p.types("?")
	p.sees("Keyboard")
}

func TestItQuits(t *testing.T) {
	t.Parallel()
	c := config(t, apptest.Make(t, apptest.Greeting))
	keys, typed := io.Pipe()
	go func() { _, _ = typed.Write([]byte("q")) }()
	if err := Run(t.Context(), c, keys, io.Discard); err != nil {
		t.Error(err)
	}
}
