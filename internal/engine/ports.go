package engine

import (
	"context"
	"errors"
	"time"

	"signalbox/internal/workflow"
)

// Runs are the documents of runs, each by its name. An implementation knows where they are.
type Runs interface {
	// OpenRun opens a run for the engine that holds its request's lock, and repairs what a crash left.
	OpenRun(ctx context.Context, ref workflow.RunRef) (Writer, workflow.Run, error)
	// WatchRun signals that somebody may have written the run since the last signal. Signals coalesce: one that
	// isn't taken yet stands for all that follow. The channel is closed when ctx ends.
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
	// Save makes run the document: durable when Save returns, or not there at all. It merges what others wrote
	// meanwhile (signals, unknown keys) into *run. event is what moved the run. ErrFenced: an engine with a later
	// lock has saved the run.
	Save(ctx context.Context, run *workflow.Run, event workflow.EventName) error
	// Refresh merges what others wrote into *run without saving, and reports whether there was anything.
	Refresh(ctx context.Context, run *workflow.Run) (bool, error)
	// Rest gives back what the writer keeps open until the next Save or Refresh.
	Rest()
	Close() error
}

// Locks keep two engines from running the same request, and more runs than there are slots from working at once.
type Locks interface {
	// LockRequest takes the lock of a request and doesn't wait. ErrHeld: another process has it.
	LockRequest(ctx context.Context, requestID string, owner Owner) (Lock, error)
	// TakeSlot takes one of the queue's slots. If none is free it returns no lock, no error and who has them.
	TakeSlot(ctx context.Context, slots int, owner Owner) (slot Lock, holders []string, err error)
	// WatchSlots signals, as WatchRun does, that a slot may be free. A holder that was killed may free its slot
	// without a signal.
	WatchSlots(ctx context.Context) (<-chan struct{}, error)
}

// Lock is a lock that is held. It's renewed until Release.
type Lock interface {
	// Epoch is the fencing token, higher than that of every earlier holder.
	Epoch() int64
	// Lost is closed when another process has taken the lock. Its former holder writes nothing more.
	Lost() <-chan struct{}
	// View is the lock as the run's document shows it.
	View() workflow.Lock
	Release() error
}

// Owner is who takes a lock (R19).
type Owner struct {
	// Name is for people: "signalbox run 42".
	Name  string
	RunID string
	// TTL is how long the lock is honoured when its holder's host cannot be asked; 0 is the default of R5.
	TTL time.Duration
	// AfterEpoch is the highest epoch that the owner knows of, such as the run's. The lock gets a
	// higher one even if its file was removed.
	AfterEpoch int64
}

var (
	// ErrHeld: another process has the lock.
	ErrHeld = errors.New("lock is held")
	// ErrFenced: a run was saved under a later lock; its former engine must stop.
	ErrFenced = errors.New("run was taken over under a later lock")
)

// Performer does what a run's document orders, on the document alone.
type Performer interface {
	// Begin prepares this process for a run that it is about to carry. An error says why it can't go on with it.
	Begin(ctx context.Context, run workflow.Run) error
	// Holder returns the id of a process that carries the run now, whatever its locks say; 0 if there is none.
	Holder(ctx context.Context, run workflow.Run) (pid int, err error)
	// Sweep ends what an engine that died left running.
	Sweep(ctx context.Context, run workflow.Run) error
	// Admit adds to the event what the run is told of its project when it gets a slot.
	Admit(ctx context.Context, run workflow.Run, admitted *workflow.Admitted) error
	// Look returns what changed outside since the run was saved, before anything else is done; nil if nothing did.
	Look(ctx context.Context, run workflow.Run) (workflow.Event, error)
	// Perform carries out an action of the run, which may have been carried out before, in part or wholly: each
	// first looks for what it would make. It returns no event if ctx ended before the action did.
	Perform(ctx context.Context, run workflow.Run, action workflow.Action, progress Progress) workflow.Event
	// Project brings up to date what others read of the run: its entries, its reports, its branch.
	Project(ctx context.Context, run workflow.Run) error
}

// Progress takes what an action has to say before it's over.
type Progress interface {
	// Report saves what a call has come to so far. It doesn't wait: a later report replaces one that isn't saved yet.
	Report(workflow.AgentReported)
	// Found saves that the environment held work of somebody else. It returns when the engine has taken it, or ctx ends.
	Found(ctx context.Context, found workflow.WorkFound)
	// Ask puts a question to people and waits for the answer, unless rules give it; they see the run as last saved.
	Ask(ctx context.Context, q workflow.Question, rules Rules) (workflow.Answer, error)
}

// Rules answer a question without a person; ok is false if they don't.
type Rules func(latest *workflow.Run) (answer workflow.Answer, ok bool)
