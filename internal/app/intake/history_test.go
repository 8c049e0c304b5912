package intake_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"signalbox/internal/app/intake"
	"signalbox/internal/forge"
	"signalbox/internal/forge/github"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// history is one project with people who give orders on its forge, and what becomes of them.
type history struct {
	t     *testing.T
	world *world
	store *store.Store
	// intake is this process's: a kill makes another.
	intake *intake.Intake
	wakes  *intake.Wakes
	door   http.Handler
	// took is what the runs of each issue were ordered, in the order in which they took it.
	took map[int][]string
}

func newHistory(t *testing.T, root string) *history {
	t.Helper()
	h := &history{t: t, world: newWorld(), wakes: intake.NewWakes(), took: map[int][]string{}}
	var err error
	if h.store, err = store.Open(t.Context(), store.Config{Root: root, Clock: func() time.Time { return h.world.now }}); err != nil {
		t.Fatal(err)
	}
	driver, err := github.New(github.Config{URL: "https://github.com", Owner: "octo-org", Name: "engine", Now: time.Now,
		Token: func(context.Context) (string, error) { return "", nil }})
	if err != nil {
		t.Fatal(err)
	}
	h.door = intake.Handler(func(_ context.Context, header http.Header, body io.Reader) (forge.Wake, error) {
		return driver.Webhook(header, body, secret)
	}, h.wakes, slog.New(slog.DiscardHandler))
	h.begin()
	return h
}

// begin starts a process.
func (h *history) begin() {
	f := hosted.New(hosted.Config{Server: h.world, Store: h.store, Clock: func() time.Time { return h.world.now }})
	h.intake = intake.New(intake.Config{Forge: side{f, h.world}, Store: h.store, Now: func() time.Time { return h.world.now }, Logger: slog.New(slog.DiscardHandler)})
}

// dying is a context that ends after some of its uses: the process is told to end between two writes.
type dying struct {
	context.Context
	left atomic.Int64
}

func (d *dying) Err() error {
	if d.left.Add(-1) < 0 {
		return context.Canceled
	}
	return d.Context.Err()
}

// listen has the intake look, as the watcher does, until it does not fail. The runs that it orders are carried, unless the process is killed before.
func (h *history) listen(chaos *rand.Rand, look func(context.Context, *intake.Intake) (intake.Result, error)) {
	h.t.Helper()
	for try := 0; ; try++ {
		ctx := context.Context(h.t.Context())
		h.world.cut = nil
		if chaos != nil && try < 5 {
			switch chaos.IntN(4) {
			case 0:
				d := &dying{Context: ctx}
				d.left.Store(chaos.Int64N(60))
				ctx = d
			case 1:
				left, after := chaos.IntN(12), chaos.IntN(2) == 0
				h.world.cut = func() (bool, bool) {
					left--
					return left < 0 && !after, left == 0 && after
				}
			}
		}
		result, err := look(ctx, h.intake)
		h.world.cut = nil
		killed := chaos != nil && try < 5 && chaos.IntN(5) == 0
		if err == nil && !killed {
			for _, ref := range result.Run {
				h.carry(ref)
			}
			return
		}
		if try > 20 {
			h.t.Fatalf("it fails again and again: %v", err)
		}
		h.begin()
	}
}

// carry takes the orders of an issue's run as an engine does, and begins a run if there is none. It ends where a person decides.
func (h *history) carry(ref string) {
	h.t.Helper()
	ctx, number := h.t.Context(), must(strconv.Atoi(ref))
	latest, err := h.store.LatestRun(ctx, ref)
	if err != nil || latest.Run.State == workflow.Canceled {
		h.took[number] = append(h.took[number], "begin")
		run := workflow.New(workflow.Start{RequestID: ref, Number: number, RunID: must(store.NewRunID(h.world.now, zeros{byte(len(h.took[number]))})), Title: "x", Branch: "b", Base: "main"}, h.world.now)
		h.waits(&run)
		if err := h.store.CreateRun(ctx, &run); err != nil {
			h.t.Fatal(err)
		}
		return
	}
	err = h.store.Stage(latest.Ref).Update(ctx, func(run *workflow.Run) error {
		for _, c := range run.Signals.Commands {
			h.took[number] = append(h.took[number], fmt.Sprintf("%s %s %q by %s", c.Kind, c.Commit, c.Text, c.By))
			switch {
			case c.Kind == workflow.CommandApprove && c.Commit == run.Details.Head:
				run.State, run.Error = workflow.Done, nil
			case c.Kind == workflow.CommandReject:
				h.waits(run)
			}
		}
		if run.Signals.ResumeRequested {
			h.took[number] = append(h.took[number], "resume")
		}
		run.Signals.Commands, run.Signals.ResumeRequested = nil, false
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// cancel gives a run up, as a person at the terminal does.
func (h *history) cancel(number int) {
	h.t.Helper()
	latest, err := h.store.LatestRun(h.t.Context(), strconv.Itoa(number))
	if err != nil || latest.Run.State.Final() {
		return
	}
	err = h.store.Stage(latest.Ref).Update(h.t.Context(), func(run *workflow.Run) error {
		run.State, run.Error = workflow.Canceled, nil
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// zeros makes ids that are the same in each history.
type zeros struct{ n byte }

func (z zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = z.n
	}
	return len(p), nil
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// waits has a run wait for approval of its next commit.
func (h *history) waits(run *workflow.Run) {
	sum := sha256.Sum256([]byte(run.RunID + run.Details.Head))
	run.Details.Head, run.Details.Phase = hex.EncodeToString(sum[:20]), workflow.ApprovalWait
	now := h.world.now
	run.State, run.EndedAt = workflow.NeedsInput, &now
	run.Error = &workflow.Error{ReasonCode: "APPROVAL", Title: "waits for approval", Next: []workflow.NextStep{run.Ask("approve", workflow.VerbApprove)}}
}

// head is the commit that waits for approval, or some other one.
func (h *history) head(number int) string {
	if latest, err := h.store.LatestRun(h.t.Context(), strconv.Itoa(number)); err == nil {
		return latest.Run.Details.Head
	}
	return strings.Repeat("0", 40)
}

// people do something, as the script's dice say: give an order, or write or label something that is none.
func (h *history) people(script *rand.Rand) (number int) {
	number = 41 + script.IntN(3)
	by := []string{"ada", "ada", "grace", "ada", "mallory", "helper[bot]", me}[script.IntN(7)]
	h.world.now = h.world.now.Add(time.Duration(1+script.IntN(90)) * time.Second)
	switch script.IntN(16) {
	case 0, 1, 2:
		h.world.write(number, by, "/signalbox run")
	case 3:
		h.world.label(number, by, "Signalbox")
	case 4:
		h.world.label(number, by, "bug")
	case 5, 6:
		h.world.write(number, by, "/signalbox approve "+h.head(number)[:12])
	case 7:
		h.world.write(number, by, "/signalbox approve")
	case 8:
		h.world.write(number, by, "/signalbox approve "+strings.Repeat("d", 40))
	case 9, 10:
		h.world.write(number, by, "/signalbox reject say it in French\nplease")
	case 11:
		h.world.write(number, by, "/signalbox "+[]string{"resume", "retry", "stop", "merge", "answer yes"}[script.IntN(5)])
	case 12:
		h.world.write(number, by, "/signalbox status")
	case 13:
		r := h.world.write(number, by, "hello")
		for n := range h.world.remarks[r.On] {
			if h.world.remarks[r.On][n].ID == r.ID {
				h.world.remarks[r.On][n].Body, h.world.remarks[r.On][n].Edited = "/signalbox run", true
			}
		}
	case 14:
		h.world.write(number, by, "> /signalbox run\n\n<!-- signalbox:comment=x -->")
	case 15: // two in one second
		h.world.write(number, by, "/signalbox run")
		h.world.write(number, by, "/signalbox status")
	}
	return number
}

// deliver posts webhooks: those of this project that wait, in any order, some twice and some never; and what others send.
func (h *history) deliver(chaos *rand.Rand, waiting []int) (later []int) {
	chaos.Shuffle(len(waiting), func(a, b int) { waiting[a], waiting[b] = waiting[b], waiting[a] })
	for _, number := range waiting {
		switch chaos.IntN(5) {
		case 0: // dropped
		case 1:
			later = append(later, number)
		case 2:
			h.post(http.StatusAccepted, message(number, "octo-org/engine", "ada", secret))
			fallthrough
		default:
			h.post(http.StatusAccepted, message(number, "Octo-Org/Engine", "ada", secret))
		}
	}
	switch chaos.IntN(4) {
	case 0:
		h.post(http.StatusUnauthorized, message(41, "octo-org/engine", "ada", ""))
	case 1:
		h.post(http.StatusUnauthorized, message(42, "octo-org/engine", "ada", "guessed"))
	case 2:
		h.post(http.StatusForbidden, message(43, "octo-org/other", "ada", secret))
	}
	return later
}

func (h *history) post(want int, r *http.Request) {
	h.t.Helper()
	w := httptest.NewRecorder()
	if h.door.ServeHTTP(w, r); w.Code != want {
		h.t.Errorf("a webhook is answered with %d, want %d", w.Code, want)
	}
}

// live lets people act some times. Without chaos, no webhook comes and nothing is killed.
func (h *history) live(seed uint64, chaos *rand.Rand) {
	script := rand.New(rand.NewPCG(seed, 1))
	look := func(ctx context.Context, i *intake.Intake) (intake.Result, error) { return i.Look(ctx) }
	h.world.write(41, "ada", "/signalbox run") // before this project took orders
	h.world.remarks[forge.OnIssue(41)][0].CreatedAt = h.world.now.Add(-time.Hour)
	h.listen(nil, look)
	var waiting []int
	for range 3 {
		if script.IntN(8) == 0 {
			h.cancel(41 + script.IntN(3))
		}
		for range 1 + script.IntN(2) {
			waiting = append(waiting, h.people(script))
		}
		if chaos != nil {
			waiting = h.deliver(chaos, waiting)
			for _, wake := range h.wakes.Take() {
				h.listen(chaos, func(ctx context.Context, i *intake.Intake) (intake.Result, error) { return i.Read(ctx, wake) })
			}
		}
		if chaos != nil && chaos.IntN(2) == 0 {
			h.listen(chaos, look)
		}
		h.listen(nil, look) // the next one finds what was dropped, and continues what was killed
	}
}

// end is all that can be seen afterwards.
func (h *history) end() string {
	var b strings.Builder
	for number := 41; number <= 43; number++ {
		fmt.Fprintf(&b, "#%d: %s\n", number, strings.Join(h.took[number], ", "))
		var replies []string
		for _, r := range h.world.remarks[forge.OnIssue(number)] {
			if r.Author == me && strings.HasPrefix(r.Body, "<!--") {
				_, text, _ := strings.Cut(r.Body, "\n")
				replies = append(replies, text)
			}
		}
		slices.Sort(replies)
		fmt.Fprintf(&b, "  %s\n", strings.Join(replies, "\n  "))
	}
	return b.String()
}

// scratch is a folder in memory, if there is one: thousands of documents are written to disk.
func scratch(t *testing.T) string {
	if dir, err := os.MkdirTemp("/dev/shm", "histories-"); err == nil {
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		return dir
	}
	return t.TempDir()
}

// TestWhateverBecomesOfWebhooksTheEndIsTheSame compares histories in which webhooks are dropped, doubled, reordered, forged and of another repository,
// and the process is killed and cut off, with those in which nothing of that happens.
func TestWhateverBecomesOfWebhooksTheEndIsTheSame(t *testing.T) {
	t.Parallel()
	dir, orders := scratch(t), 0
	for seed := range uint64(1000) {
		calm, wild := newHistory(t, must(os.MkdirTemp(dir, "calm-"))), newHistory(t, must(os.MkdirTemp(dir, "wild-")))
		calm.live(seed, nil)
		wild.live(seed, rand.New(rand.NewPCG(seed, 2)))
		if want, got := calm.end(), wild.end(); got != want {
			t.Fatalf("history %d ends with\n%s\nwant\n%s", seed, got, want)
		}
		for number := range 3 {
			orders += len(calm.took[41+number])
		}
		for _, h := range []*history{calm, wild} {
			if err := h.store.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if orders < 500 {
		t.Errorf("only %d orders were taken", orders)
	}
}
