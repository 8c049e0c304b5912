// Package agent owns the port to coding agents: what a task is, what running
// one comes to, and the rules that every driver keeps. It refuses to judge
// the work: "complete" from an agent is a claim, and the tests that Signalbox
// runs are the evidence (DESIGN decision 3).
package agent

import (
	"context"
	"io"
	"time"

	"signalbox/internal/process"
)

// Task is one call of an agent.
type Task struct {
	// Key is the key of the Action, unique within the run and the same when it is performed again.
	Key string
	// Role is planner, implementer, reviewer or repairer.
	Role string
	// Prompt is the whole instruction, in English.
	Prompt string
	// Terminal asks for the program's own interface, for a person at the terminal that exec gives it:
	// it begins with Prompt and may go on with whatever is typed. Exit code 0 is its good end; it has
	// no Transcript and no Answer. It goes on with no Conversation.
	Terminal bool
	// Dir is the working directory, as the agent sees it.
	Dir string
	// Env are further variables (KEY=value); drivers add their own. All of ours start with SIGNALBOX_.
	Env []string
	// StepID and Attempt say which step of the plan this is ("S01", from 1); Round the review round.
	StepID  string
	Attempt int
	Round   int
	// Log receives everything the agent prints, already redacted by whoever made it; never nil.
	Log io.Writer
	// Transcript is told what happens; nil discards. Drivers that do not understand their program's
	// output tell nothing. Calls may overlap.
	Transcript func(Entry)
	// InFlight is told what the requests on their way to the model may yet use, whenever that changes and
	// before the first of them is sent; nil discards. Calls may overlap.
	InFlight func(Usage)
	// Ask answers what the agent asks, in a goroutine of its own and one question at a time; nil denies.
	// Idle does not run meanwhile, Total does.
	Ask Asker
	// Reports are beginnings of commands by which the agent says what it came to. It may run them
	// whatever else it may not, as far as its program can be told so.
	Reports []string
	// Conversation is to be gone on with; nil begins one. A driver that cannot begins one anyway.
	Conversation *Conversation
	// Endpoint is where the model is; nil leaves the agent to its own login.
	Endpoint *Endpoint
	// Private is a folder of this machine that goes with the environment and that nothing inside sees
	// unless it is asked for; empty where there is none.
	Private string
	// Login is the agent's own, where it has one: by its name below HOME ("~/.claude") the host path
	// that is found there. An empty path takes away what an earlier call was shown.
	Login map[string]string
	// Reads and Writes are host paths that are shown for it, beside the program's own.
	Reads, Writes []string
	// Ceiling is what the call may use; who serves Endpoint holds it to that.
	Ceiling Ceiling
	// Idle and Total are the deadlines; OutputLimit the number of bytes kept.
	Idle, Total time.Duration
	OutputLimit int64
}

// Result is what an agent's end came to by the driver's own end rule.
type Result struct {
	// Answer is the final message: JSON for planner, reviewer and repairer, prose for the implementer.
	Answer string
	// Failure is nil when the agent ended well.
	Failure *Failure
	// Process is how the program ended.
	Process process.Result
	Usage   Usage
	// Conversation is what a later call can go on with; nil if the agent has none.
	Conversation *Conversation
	// Title is the program's name for people ("Claude Code"), Model the model that did the work, in the
	// server's own name for it; each is empty where it is not known.
	Title, Model string
	// Denied are the tools that the agent wanted to use and was not allowed to. It may have done
	// without them: whether there is a change is another fact.
	Denied []string
}

// Failure is an agent that did not end well.
type Failure struct {
	Code FailureCode
	// Message is one line for people, cleaned of control characters.
	Message string
	// Until is when the model is to be had again, of RateLimited and UsageLimited; zero if not told.
	Until time.Time
}

// FailureCode is the reason_code of an agent's failure.
type FailureCode string

const (
	Crashed     FailureCode = "AGENT_FAILED"    // a non-zero exit code, or a signal we did not send
	Hung        FailureCode = "AGENT_HUNG"      // it printed nothing for Idle
	TimedOut    FailureCode = "AGENT_TIMED_OUT" // it ran for Total
	NoMemory    FailureCode = "AGENT_OUT_OF_MEMORY"
	Unavailable FailureCode = "AGENT_UNAVAILABLE" // its program cannot be started
	NoAnswer    FailureCode = "AGENT_NO_ANSWER"   // it ended well and said nothing where an answer was due

	// What the agent says of its model.

	RateLimited  FailureCode = "AGENT_RATE_LIMITED"     // too much at once; passes in seconds or minutes
	UsageLimited FailureCode = "AGENT_USAGE_LIMITED"    // a plan's or a day's share is used up; passes in hours
	Unauthorized FailureCode = "AGENT_UNAUTHORIZED"     // no key, a wrong one, or one that may not use the model
	Overflowed   FailureCode = "AGENT_CONTEXT_OVERFLOW" // the conversation is larger than the model's context
	Unreachable  FailureCode = "AGENT_UNREACHABLE"      // no answer came, or half of one
	NoRoute      FailureCode = "AGENT_NO_ROUTE"         // the model's server cannot be reached as this machine is set up
	ModelFailed  FailureCode = "AGENT_MODEL_FAILED"     // the model's server failed or is overloaded
	Refused      FailureCode = "AGENT_REQUEST_REFUSED"  // the model's server takes no such request: an unknown model, say
	Overspent    FailureCode = "AGENT_OVERSPENT"        // the call used up its Ceiling
	DaySpent     FailureCode = "AGENT_DAY_SPENT"        // all calls together used up what the day allows

	// Lost: the conversation that was to be gone on with is not known to the agent any more.
	Lost FailureCode = "AGENT_CONVERSATION_LOST"
)

// Usage is what was used, as far as the agent says; zero where it does not.
type Usage struct {
	// InputTokens include those read from a cache or written to one, which are CachedTokens.
	InputTokens  int64 `json:"input_tokens,omitempty"`
	CachedTokens int64 `json:"cached_tokens,omitempty"`
	OutputTokens int64 `json:"output_tokens,omitempty"`
	// CostUSD is the agent's own reckoning, in US dollars.
	CostUSD float64 `json:"cost_usd,omitempty"`
}

// Ceiling bounds a call; zero is no limit.
type Ceiling struct {
	// Tokens are those that go in and come out, CostUSD US dollars.
	Tokens  int64
	CostUSD float64
}

// Add is u and v together.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.InputTokens + v.InputTokens, u.CachedTokens + v.CachedTokens, u.OutputTokens + v.OutputTokens, u.CostUSD + v.CostUSD}
}

// Sub is what u has beyond v, nothing below zero.
func (u Usage) Sub(v Usage) Usage {
	return Usage{max(0, u.InputTokens-v.InputTokens), max(0, u.CachedTokens-v.CachedTokens),
		max(0, u.OutputTokens-v.OutputTokens), max(0, u.CostUSD-v.CostUSD)}
}

// Agent is the port. One driver package per program implements it.
type Agent interface {
	// Name is the name under which the configuration knows it.
	Name() string
	// Run performs the task by running a program with exec and reads its end by the driver's
	// own rule. A task that failed is a Result; an error means that nothing can be said, such
	// as a canceled context (then ctx's error is returned, unless the agent had finished by then).
	Run(ctx context.Context, task Task, exec process.Executor) (Result, error)
	// Check says whether the agent's program can be started, with its version if it tells one.
	Check(ctx context.Context) (version string, err error)
}
