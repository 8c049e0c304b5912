package engine

import (
	"context"
	"errors"
	"time"

	"signalbox/internal/workflow"
)

// Runs are the documents of runs, by name. An implementation knows where they are.
type Runs interface {
	// OpenRun opens a run for the engine that holds its request's lock, and repairs what a crash damaged.
	OpenRun(ctx context.Context, ref workflow.RunRef) (Writer, workflow.Run, error)
	// WatchRun signals that the run may have been written since the last signal. Signals coalesce: further ones are
	// dropped while one waits. The channel is closed when ctx ends.
	WatchRun(ctx context.Context, ref workflow.RunRef) (<-chan struct{}, error)
}

// RunSummary is a run as a listing shows it. Err says why it can't be read.
type RunSummary struct {
	Ref workflow.RunRef
	Run workflow.Run
	Err error
}

// Document is one document beside the runs that several programs change, such as a status that others read.
type Document[T any] interface {
	// Load reads the document. fs.ErrNotExist: there is none.
	Load(ctx context.Context) (T, error)
	// Update changes the document under its lock and returns when the change is durable. An error of change
	// leaves the document as it was.
	Update(ctx context.Context, change func(*T) error) error
}

// Writer saves one run. There is one per run at a time.
type Writer interface {
	// Save replaces the document by run, durably or not at all. It merges what others wrote meanwhile (signals,
	// unknown keys) into *run. event is what moved the run. ErrFenced: an engine with a later lock has saved the run.
	Save(ctx context.Context, run *workflow.Run, event workflow.EventName) error
	// Refresh merges what others wrote into *run without saving, and reports whether that changed anything.
	Refresh(ctx context.Context, run *workflow.Run) (bool, error)
	// Rest closes what the writer keeps open, until the next Save or Refresh.
	Rest()
	Close() error
}

// Locks keep two engines from running the same request, and limit the runs that work at once to the number of slots.
type Locks interface {
	// LockRequest takes the lock of a request, without waiting. ErrHeld: another process has it.
	LockRequest(ctx context.Context, requestID string, owner Owner) (Lock, error)
	// TakeSlot takes one of the queue's slots. If none is free, it returns no lock, no error and the holders.
	TakeSlot(ctx context.Context, slots int, owner Owner) (slot Lock, holders []string, err error)
	// WatchSlots signals, as WatchRun does, that a slot may be free. A holder that was killed may free its slot
	// without a signal.
	WatchSlots(ctx context.Context) (<-chan struct{}, error)
}

// Lock is a held lock. It's renewed until Release.
type Lock interface {
	// Epoch is the fencing token, higher than that of every earlier holder.
	Epoch() int64
	// Lost is closed when another process has taken the lock. The former holder writes nothing more.
	Lost() <-chan struct{}
	// View is the lock as the run's document shows it.
	View() workflow.Lock
	// Rest says that its holder only waits, until Wake: thousands of resting locks cost no more than one.
	Rest()
	// Wake ends Rest. ErrLost: another process has taken the lock.
	Wake(ctx context.Context) error
	Release() error
}

// Owner describes the process that takes a lock.
type Owner struct {
	// Name is for people: "signalbox run 42".
	Name  string
	RunID string
	// TTL is how long the lock is honoured when its holder's host can't be asked; 0 means 900 seconds.
	TTL time.Duration
	// AfterEpoch is the highest epoch that the owner knows, such as the run's. The lock gets a higher one even if
	// its file was removed.
	AfterEpoch int64
}

var (
	// ErrHeld: another process has the lock.
	ErrHeld = errors.New("lock is held")
	// ErrFenced: the run was saved under a later lock, so its former engine must stop.
	ErrFenced = errors.New("run was taken over under a later lock")
)

// Performer performs the actions that a run's document orders. It needs nothing but the document.
type Performer interface {
	// Begin prepares this process to execute a run. An error says why it can't.
	Begin(ctx context.Context, run workflow.Run) error
	// Holder returns the id of a process that executes the run now, whatever its locks say; 0 if there is none.
	Holder(ctx context.Context, run workflow.Run) (pid int, err error)
	// Sweep ends the processes that a dead engine left running.
	Sweep(ctx context.Context, run workflow.Run) error
	// Admit adds the project's present settings to the event by which the run gets a slot.
	Admit(ctx context.Context, run workflow.Run, admitted *workflow.Admitted) error
	// Look returns what changed outside since the run was saved; nil if nothing did. It comes before every action.
	Look(ctx context.Context, run workflow.Run) (workflow.Event, error)
	// Perform performs an action of the run. The action may have been performed before, in part or wholly, so it
	// first looks for its own results. Perform returns no event if ctx ended first.
	Perform(ctx context.Context, run workflow.Run, action workflow.Action, progress Progress) workflow.Event
	// Project updates what others read about the run: its entries, its reports, its branch.
	Project(ctx context.Context, run workflow.Run) error
}

// Progress takes what an action reports before it ends.
type Progress interface {
	// Report saves the state of an agent's call so far. It doesn't wait: a later report replaces an unsaved one.
	Report(workflow.AgentReported)
	// Found saves that the environment held foreign work. It returns when the engine has taken the fact, or ctx ends.
	Found(ctx context.Context, found workflow.WorkFound)
	// Ask asks people and waits for the answer, unless rules answer. People see the run as last saved.
	Ask(ctx context.Context, q workflow.Question, rules Rules) (workflow.Answer, error)
}

// Rules answer a question without a person. They see the run as last saved; ok is false if no rule applies.
type Rules func(latest *workflow.Run) (answer workflow.Answer, ok bool)
