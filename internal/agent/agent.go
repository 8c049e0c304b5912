// Package agent owns the port to coding agents: a task, the result of running one, and the rules that every driver keeps. It does not judge the
// work: "complete" from an agent is a claim, and the tests that Signalbox runs are the evidence (DESIGN decision 3).
package agent

import (
	"context"
	"io"
	"time"

	"signalbox/internal/process"
)

// Task is one call of an agent.
type Task struct {
	// Key is the key of the Action. It is unique within the run, and the same when the action is repeated after a crash.
	Key string
	// Role is planner, implementer, reviewer or repairer.
	Role string
	// Prompt is the whole instruction, in English.
	Prompt string
	// Terminal starts the program's own interface on the terminal that exec provides, for a person. It begins with Prompt and continues with what
	// the person types. Exit code 0 means that it ended well. There is no Transcript and no Answer, and no Conversation is resumed.
	Terminal bool
	// Dir is the working directory, as the agent sees it.
	Dir string
	// Env are additional variables (KEY=value); drivers add their own. All of ours start with SIGNALBOX_.
	Env []string
	// StepID ("S01") and Attempt (from 1) name the step of the plan; Round is the review round.
	StepID  string
	Attempt int
	Round   int
	// Log receives everything that the agent prints, already redacted. Never nil.
	Log io.Writer
	// Transcript is called with each event of the conversation; nil discards them. Drivers that can't parse their program's output never call it.
	// Calls may overlap.
	Transcript func(Entry)
	// InFlight is called with the usage that requests now running may still cause, whenever that changes and before the first request is sent; nil
	// discards it. Calls may overlap.
	InFlight func(Usage)
	// Ask answers the agent's questions, one at a time and in its own goroutine; nil denies them. The Idle deadline pauses meanwhile, and Total
	// does not.
	Ask Asker
	// Reports are the first words of the commands with which the agent reports its result. It may run them whatever its permissions, if its program
	// can be configured so.
	Reports []string
	// Conversation is the conversation to resume; nil starts a new one. A driver that can't resume starts a new one too.
	Conversation *Conversation
	// Endpoint is the address of the model; nil means that the agent uses its own login.
	Endpoint *Endpoint
	// Private is a folder of the host that belongs to the environment. Commands inside see it only if they ask for it. Empty if there is none.
	Private string
	// Login is the agent's own login, if it has one: it maps a name below HOME ("~/.claude") to the host path shown there. An empty path removes
	// what an earlier call was shown.
	Login map[string]string
	// Reads and Writes are additional host paths that the agent may see, or change.
	Reads, Writes []string
	// Budget is what the call may use. The server behind Endpoint enforces it.
	Budget Budget
	// Idle and Total are the deadlines; OutputLimit is how many bytes of output are kept.
	Idle, Total time.Duration
	OutputLimit int64
}

// Result is the result of a call, by the driver's own rule.
type Result struct {
	// Answer is the final message: JSON from planner, reviewer and repairer, prose from the implementer.
	Answer string
	// Failure is nil if the agent ended well.
	Failure *Failure
	// Process says how the program ended.
	Process process.Result
	Usage   Usage
	// Conversation can be resumed by a later call; nil if the agent has none.
	Conversation *Conversation
	// Title is the program's name for people ("Claude Code"). Model is the model that did the work, as the server names it. Either is empty if
	// unknown.
	Title, Model string
	// Denied are the tools that the agent asked for and did not get. It may have managed without them: whether there is a change is a separate
	// fact.
	Denied []string
}

// Failure says why an agent did not end well.
type Failure struct {
	Code FailureCode
	// Message is one line for people, without control characters.
	Message string
	// Until is when the model is available again, for RateLimited and UsageLimited; zero if unknown.
	Until time.Time
}

// FailureCode is the reason_code of an agent's failure. What follows from it (try again, wait, ask a person) is decided by workflow.
type FailureCode string

const (
	// Crashed: the program ended with a non-zero exit code, or by a signal that Signalbox did not send.
	Crashed FailureCode = "AGENT_FAILED"
	// Hung: it printed nothing for Task.Idle.
	Hung FailureCode = "AGENT_HUNG"
	// TimedOut: it ran for Task.Total.
	TimedOut FailureCode = "AGENT_TIMED_OUT"
	// NoMemory: it exceeded the memory of its environment.
	NoMemory FailureCode = "AGENT_OUT_OF_MEMORY"
	// Unavailable: the program is missing or can't be started. A person installs it.
	Unavailable FailureCode = "AGENT_UNAVAILABLE"
	// NoAnswer: it ended well, but without the answer that its role owes.
	NoAnswer FailureCode = "AGENT_NO_ANSWER"

	// The failures below are the agent's report about its model.

	// RateLimited: too many requests at once. It passes within seconds or minutes; see Failure.Until.
	RateLimited FailureCode = "AGENT_RATE_LIMITED"
	// UsageLimited: the share of a plan or of a day is used up. It passes within hours; see Failure.Until.
	UsageLimited FailureCode = "AGENT_USAGE_LIMITED"
	// Unauthorized: the key is missing, wrong, or not valid for the model. A person fixes it.
	Unauthorized FailureCode = "AGENT_UNAUTHORIZED"
	// Overflowed: the conversation is larger than the model's context. A new conversation may fit.
	Overflowed FailureCode = "AGENT_CONTEXT_OVERFLOW"
	// Unreachable: no answer arrived, or only half of one.
	Unreachable FailureCode = "AGENT_UNREACHABLE"
	// NoRoute: the model's server can't be reached with this machine's configuration. Waiting does not help.
	NoRoute FailureCode = "AGENT_NO_ROUTE"
	// ModelFailed: the model's server failed or is overloaded.
	ModelFailed FailureCode = "AGENT_MODEL_FAILED"
	// Refused: the model's server rejects the request itself, for example because the model is unknown.
	Refused FailureCode = "AGENT_REQUEST_REFUSED"
	// Overspent: the call used up its Budget.
	Overspent FailureCode = "AGENT_OVERSPENT"
	// DaySpent: all calls together used up the day's budget.
	DaySpent FailureCode = "AGENT_DAY_SPENT"

	// Lost: the agent no longer knows the conversation to resume. The next attempt starts a new one.
	Lost FailureCode = "AGENT_CONVERSATION_LOST"
)

// Usage is what was used, as the agent reports it; fields it doesn't report are zero.
type Usage struct {
	// InputTokens include CachedTokens: those read from a cache or written to one.
	InputTokens  int64 `json:"input_tokens,omitempty"`
	CachedTokens int64 `json:"cached_tokens,omitempty"`
	OutputTokens int64 `json:"output_tokens,omitempty"`
	// CostUSD is the agent's own estimate, in US dollars.
	CostUSD float64 `json:"cost_usd,omitempty"`
}

// Budget is what a call may use; zero means no limit.
type Budget struct {
	// Tokens counts input and output together; CostUSD is in US dollars.
	Tokens  int64
	CostUSD float64
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.InputTokens + v.InputTokens, u.CachedTokens + v.CachedTokens, u.OutputTokens + v.OutputTokens, u.CostUSD + v.CostUSD}
}

// Sub returns u minus v, with no field below zero.
func (u Usage) Sub(v Usage) Usage {
	return Usage{max(0, u.InputTokens-v.InputTokens), max(0, u.CachedTokens-v.CachedTokens),
		max(0, u.OutputTokens-v.OutputTokens), max(0, u.CostUSD-v.CostUSD)}
}

// Agent is the port. One driver package per program implements it.
type Agent interface {
	// Name is the agent's name in the configuration.
	Name() string
	// Run performs the task by running a program with exec, and judges its end by the driver's own rule. A failed task is a Result. An error means
	// that the outcome is unknown. If ctx was canceled, Run returns ctx's error, unless the agent had finished by then.
	Run(ctx context.Context, task Task, exec process.Executor) (Result, error)
	// Check returns an error if the agent's program can't be started, and otherwise its version if it reports one.
	Check(ctx context.Context) (version string, err error)
}
