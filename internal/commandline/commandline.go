// Package commandline says what a person can do next in words of the command line: a list of arguments for a program, and a line
// for people, which a shell reads as it is meant. The published documents quote these lines, so it is no part of cli. It decides
// nothing, and refuses to know a flag that no step has.
package commandline

import (
	"strings"

	"signalbox/internal/workflow"
)

// Program is the first argument of every command of ours.
const Program = "signalbox"

// words are what comes after the program's name for each verb.
var words = map[workflow.Verb]string{
	workflow.VerbRun: "run", workflow.VerbResume: "resume", workflow.VerbRetry: "retry", workflow.VerbStop: "stop",
	workflow.VerbApprove: "approve", workflow.VerbReject: "reject", workflow.VerbSync: "sync", workflow.VerbDiff: "diff",
	workflow.VerbStatus: "status", workflow.VerbLogs: "logs", workflow.VerbList: "list", workflow.VerbDoctor: "doctor",
	workflow.VerbEnvironmentLogs: "env logs", workflow.VerbRemoveEnvironment: "env remove", workflow.VerbStartSession: "session start",
}

// Arguments are the step as a program takes it, its own name first; nil where a person takes the step without one, or where this
// version does not know the verb. What follows the step is not in them.
func Arguments(s workflow.NextStep) []string {
	if s.Verb == "" {
		return s.Program
	}
	verb, known := words[s.Verb]
	if !known {
		return nil
	}
	args := append([]string{Program}, strings.Fields(verb)...)
	for _, flag := range []struct {
		name string
		set  bool
	}{{"--cancel", s.Cancel}, {"--force", s.Force}, {"--unsandboxed", s.Unsandboxed}} {
		if flag.set {
			args = append(args, flag.name)
		}
	}
	return append(args, operands(s)...)
}

// operands are what the verb is about. A request may depend on what a stranger named like a flag.
func operands(s workflow.NextStep) (args []string) {
	args = append(args, s.Runs...)
	for _, more := range []string{s.Environment, s.Blank} {
		if more != "" {
			args = append(args, more)
		}
	}
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			return append([]string{"--"}, args...)
		}
	}
	return args
}

// Line is the step, and what follows it, for people: what it is for, and what to type.
func Line(s workflow.NextStep) string {
	said := s.Text
	if args := Arguments(s); len(args) > 0 {
		if said != "" {
			said += ": "
		}
		said += Quote(args)
	}
	for _, next := range s.Then {
		said += "; " + Line(next)
	}
	return said
}

// For is what to type to have something done about the run.
func For(r *workflow.Run, verb workflow.Verb) string { return Line(r.Ask("", verb)) }

// Sentence is a reason with what can be done about it, on one line.
func Sentence(why string, steps []workflow.NextStep) string {
	for _, step := range steps {
		if step.Text == "" {
			why += ": " + Line(step)
		} else {
			why += "; " + Line(step)
		}
	}
	return why
}

// Lines are the steps of a stop. Of a step that only a newer version knows, they are what that version wrote.
func Lines(e *workflow.Error) []string {
	if len(e.Next) == 0 {
		return e.Actions
	}
	lines := make([]string, 0, len(e.Next))
	for _, step := range e.Next {
		if !step.Known() && len(e.Actions) > 0 {
			return e.Actions
		}
		lines = append(lines, Line(step))
	}
	return lines
}
