package workflow

import (
	"errors"
	"fmt"
	"slices"
)

// NextStep is one thing that a person can do about a stop, as data. Each front end shows it in its own way: the command line as a command, a web page
// as a button, MCP as a tool call. No decision reads a shell command from a document.
type NextStep struct {
	// Text says what the step is for, or what to do if only a person can do it ("free disk space").
	Text string `json:"text,omitempty"`
	// Verb is what Signalbox is asked to do; empty if the step is taken outside Signalbox.
	Verb Verb `json:"verb,omitempty"`
	// Runs are the runs, or requests, that the verb is about, as people name them: "42".
	Runs []string `json:"runs,omitempty"`
	// Environment is the one that the verb is about.
	Environment string `json:"environment,omitempty"`
	// Cancel belongs to stop: the run is given up.
	Cancel bool `json:"cancel,omitzero"`
	// Force belongs to resume: the run continues in spite of what stopped it.
	Force bool `json:"force,omitzero"`
	// Unsandboxed belongs to verbs that run commands: these may run unprotected.
	Unsandboxed bool `json:"unsandboxed,omitzero"`
	// Blank is a placeholder for the person's own words: "what to change".
	Blank string `json:"blank,omitempty"`
	// Program is a command of another program, one argument each. A step has it or a verb.
	Program []string `json:"program,omitempty"`
	// Then are the steps that have to follow, in their order.
	Then    []NextStep `json:"then,omitempty"`
	Unknown Unknown    `json:",embed"`
}

// Verb is what a person asks Signalbox to do. A verb never changes and is never reused for something else, even if a front end calls it by another
// name.
type Verb string

const (
	VerbRun     Verb = "run"     // carry out requests until they are merged
	VerbResume  Verb = "resume"  // let a run that stopped continue
	VerbRetry   Verb = "retry"   // let a run that failed try again
	VerbStop    Verb = "stop"    // stop a run, or give it up
	VerbApprove Verb = "approve" // agree to the change
	VerbReject  Verb = "reject"  // send the change back
	VerbSync    Verb = "sync"    // merge the base branch into the change
	VerbDiff    Verb = "diff"    // show the change
	VerbStatus  Verb = "status"  // show where the run is, and why it stopped
	VerbLogs    Verb = "logs"    // show what agents and tests printed
	VerbList    Verb = "list"    // show the requests

	VerbDoctor            Verb = "doctor"             // say what this machine lacks
	VerbEnvironmentLogs   Verb = "environment_logs"   // show what the setup printed
	VerbRemoveEnvironment Verb = "remove_environment" // delete it, once its work is on a ref
	VerbStartSession      Verb = "start_session"      // work in the run's environment with an agent
)

// Verbs lists every Verb.
var Verbs = []Verb{VerbRun, VerbResume, VerbRetry, VerbStop, VerbApprove, VerbReject, VerbSync, VerbDiff, VerbStatus, VerbLogs, VerbList,
	VerbDoctor, VerbEnvironmentLogs, VerbRemoveEnvironment, VerbStartSession}

// Advice returns a step that only a person can take, outside Signalbox.
func Advice(text string) NextStep { return NextStep{Text: text} }

// Following returns the step with others after it, without which it does not help.
func (s NextStep) Following(steps ...NextStep) NextStep {
	s.Then = append(slices.Clip(s.Then), steps...)
	return s
}

// runs holds the verbs that run commands of the project.
var runs = []Verb{VerbRun, VerbResume, VerbRetry, VerbApprove, VerbReject, VerbSync, VerbStartSession}

// Ask returns a step that asks Signalbox for something about the run. If its commands ran unprotected, the step lets them, because it may be refused
// otherwise.
func (r *Run) Ask(text string, verb Verb) NextStep {
	return NextStep{Text: text, Verb: verb, Runs: []string{r.Ref()}, Unsandboxed: r.Details.Isolation == IsolationNone && slices.Contains(runs, verb)}
}

// ThenResume returns the last step after something that a person did outside Signalbox.
func (r *Run) ThenResume() NextStep { return r.Ask("then", VerbResume) }

// GiveUp returns a step that ends the run; its work stays on a ref.
func (r *Run) GiveUp(text string) NextStep {
	step := r.Ask(text, VerbStop)
	step.Cancel = true
	return step
}

// SendBack returns a step that sends the change back to the agent.
func (r *Run) SendBack(text string) NextStep {
	step := r.Ask(text, VerbReject)
	step.Blank = "what to change"
	return step
}

// Forced returns a step that lets the run continue in spite of what stopped it.
func (r *Run) Forced(text string) NextStep {
	step := r.Ask(text, VerbResume)
	step.Force = true
	return step
}

// SeeDoctor is the step for an error that does not say itself what is missing.
var SeeDoctor = NextStep{Text: "see what is missing", Verb: VerbDoctor}

// First puts a step before the others.
func (e *Error) First(step NextStep) { e.Next = append([]NextStep{step}, e.Next...) }

// Known reports whether this version knows every verb of the step.
func (s NextStep) Known() bool {
	return (s.Verb == "" || slices.Contains(Verbs, s.Verb)) && !slices.ContainsFunc(s.Then, func(s NextStep) bool { return !s.Known() })
}

// Validate returns an error for a step that no front end can offer, because its verb lacks what it is about or has a field of another verb's. It does
// not check the steps that follow.
func (s NextStep) Validate() error {
	if !s.Known() {
		return fmt.Errorf("the verb %q is not declared", s.Verb)
	}
	about, environment := 1, false
	switch s.Verb {
	case "":
		if about = 0; s.Text == "" && len(s.Program) == 0 {
			return errors.New("the step says nothing")
		}
	case VerbDoctor, VerbList:
		about = 0
	case VerbRemoveEnvironment:
		about, environment = 0, true
	case VerbRun:
		about = max(1, len(s.Runs))
	}
	switch {
	case s.Verb != "" && len(s.Program) > 0:
		return fmt.Errorf("the step %q has a program beside its verb", s.Verb)
	case len(s.Runs) != about, environment != (s.Environment != ""):
		return fmt.Errorf("the step %q is about %d runs and the environment %q", s.Verb, len(s.Runs), s.Environment)
	case s.Cancel && s.Verb != VerbStop, s.Force && s.Verb != VerbResume, s.Unsandboxed && !slices.Contains(runs, s.Verb), (s.Blank != "") != (s.Verb == VerbReject):
		return fmt.Errorf("the step %q has a flag that is another verb's, or lacks its own", s.Verb)
	}
	return nil
}

// Has reports whether the step, or one that follows it, satisfies wanted.
func (s NextStep) Has(wanted func(NextStep) bool) bool {
	return wanted(s) || slices.ContainsFunc(s.Then, func(s NextStep) bool { return s.Has(wanted) })
}

// TakeActions makes steps from the lines of a document without steps, which an older version or another program wrote.
func (e *Error) TakeActions() {
	if len(e.Next) > 0 {
		return
	}
	for _, line := range e.Actions {
		e.Next = append(e.Next, Advice(line))
	}
}
