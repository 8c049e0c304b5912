// Package agent owns the port to coding agents: a task, the result of running one, and the rules that every driver keeps. It does not judge the
// work: "complete" from an agent is a claim, and the tests that Signalbox runs are the evidence (DESIGN decision 3).
//
// A driver knows one vendor's program: its command line, its events and its words for errors. It translates them into the words of this package
// and decides nothing: whether a failure is retried, waited for or shown to a person is decided in workflow, by the failure's code.
//
// The words, in the order in which a call meets them:
//
//   - A Task is one call of an agent: a role, a prompt, limits, and where it works.
//   - A Program is what the driver runs for it; a Reader parses what the program prints.
//   - A Dialogue is a Reader whose program may ask: it turns the program's requests into Questions, and Answers into responses.
//   - An Entry is one event of the conversation; all of a call's entries are its transcript.
//   - An Ending is the call by the agent's own end rule, and a Result is that combined with how the program ended.
//   - A Conversation is the agent's own memory, which a later call may resume.
//
// Everything that an agent prints is untrusted. It is cleaned here (Text, Fail, Asked) before a person or a document sees it.
package agent

import (
	"context"
	"io"
	"time"

	"signalbox/internal/process"
)

// Agent is the port. One driver package per program implements it, and agenttest is the suite that all of them pass.
type Agent interface {
	// Name is the agent's name in the configuration.
	Name() string
	// Run performs the task by running a program with exec, and judges its end by the driver's own rule. A failed task is a Result. An error means
	// that the outcome is unknown. If ctx was canceled, Run returns ctx's error, unless the agent had finished by then.
	//
	// When Run returns, nothing that the agent started is running: exec ends the whole group.
	Run(ctx context.Context, task Task, exec process.Executor) (Result, error)
	// Check returns an error if the agent's program can't be started, and otherwise its version if it reports one. It costs nothing: no model is
	// asked. A program that is too old for its driver is an error that wraps ErrTooOld.
	Check(ctx context.Context) (version string, err error)
}

// Task is one call of an agent. Paths are as the agent sees them unless the field says otherwise.
type Task struct {
	// Key is the key of the Action. It is unique within the run, and the same when the action is repeated after a crash.
	Key string
	// Role is planner, implementer, reviewer or repairer. Only the implementer may end without an answer.
	Role string
	// Prompt is the whole instruction, in English. It may be longer than an argument can be (128 KiB on Linux) and may begin with anything, so a
	// driver passes it on standard input or protects it from being taken for an option.
	Prompt string
	// Terminal starts the program's own interface on the terminal that exec provides, for a person. It begins with Prompt and continues with what
	// the person types. Exit code 0 means that it ended well. There is no Transcript and no Answer, and no Conversation is resumed.
	Terminal bool
	// Dir is the working directory, as the agent sees it.
	Dir string
	// Env are additional variables (KEY=value); drivers add their own. All of ours start with SIGNALBOX_.
	Env []string
	// StepID ("S01") and Attempt (from 1) name the step of the plan; Round is the review round. The program learns them from variables
	// (VariableStep and its neighbors); only the replay driver acts on them.
	StepID  string
	Attempt int
	Round   int
	// Log receives everything that the agent prints, in the program's own format, and redacts it. Never nil. If a write fails, the call ends.
	Log io.Writer
	// Transcript is called with each event of the conversation; nil discards them. Drivers that can't parse their program's output never call it.
	// Calls may overlap.
	Transcript func(Entry)
	// InFlight is called with the usage that requests now running may still cause, whenever that changes and before the first request is sent; nil
	// discards it. Calls may overlap. Only the gateway knows this, so drivers never call it.
	InFlight func(Usage)
	// Ask answers the agent's questions, one at a time and in its own goroutine; nil denies them. The Idle deadline pauses meanwhile, and so does
	// Total: waiting for a person is no work.
	Ask Asker
	// Reports are the first words of the commands with which the agent reports its result. It may run them whatever its permissions, if its program
	// can be configured so: Claude Code, Gemini CLI and opencode have rules per command; Codex and pi don't.
	Reports []string
	// Conversation is the conversation to resume; nil starts a new one. A driver that can't resume starts a new one too.
	Conversation *Conversation
	// Endpoint is the address of the model; nil means that the agent uses its own login.
	Endpoint *Endpoint
	// Private is a folder of the host that belongs to the environment, for a copy of the agent's login. Commands inside see it only if they ask for
	// it. Empty if there is none.
	Private string
	// Login is the agent's own login, if it has one: it maps a name below HOME ("~/.claude") to the host path shown there. An empty path removes
	// what an earlier call was shown.
	Login map[string]string
	// Reads and Writes are additional host paths that the agent may see, or change.
	Reads, Writes []string
	// Budget is what the call may use. The server behind Endpoint enforces it; an agent that uses its own login is stopped by its caller instead,
	// after it reported more.
	Budget Budget
	// Idle and Total are the deadlines: the first passes when nothing was printed for so long, the second when the call has lasted so long. Zero
	// means none. OutputLimit is how many bytes of output are kept; more is read and dropped, so a flood never blocks the program.
	Idle, Total time.Duration
	OutputLimit int64
}

// Result is the result of a call, by the driver's own rule.
type Result struct {
	// Answer is the final message: JSON from planner, reviewer and repairer, prose from the implementer. It is at most MaxAnswer bytes of valid
	// UTF-8, without space around it.
	Answer string
	// Failure is nil if the agent ended well.
	Failure *Failure
	// Process says how the program ended: exit code, signal or deadline, and how long it ran. Truncated is set if the output exceeded OutputLimit.
	Process process.Result
	// Usage is what this call used, without earlier calls of the same conversation. It is also reported for a call that failed.
	Usage Usage
	// Conversation can be resumed by a later call; nil if the agent has none.
	Conversation *Conversation
	// Title is the program's name for people ("Claude Code"). Model is the model that did the work, as the server names it. Either is empty if
	// unknown: the gateway fills in Model, because agents report what was configured rather than what answered.
	Title, Model string
	// Denied are the tools that the agent asked for and did not get. It may have managed without them: whether there is a change is a separate
	// fact.
	Denied []string
}
