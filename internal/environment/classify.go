package environment

import (
	"slices"
	"strings"

	"signalbox/internal/process"
)

// Classes of a failed setup command. This package reads the tool's words; workflow decides
// what follows from the class. Documents on disk contain these words, so they never change.
const (
	// Network: the server was not reached. The command may succeed later.
	Network = "network"
	// Server: the server answered that it has a passing problem of its own. The command may succeed
	// later.
	Server = "server"
	// Lock: another package manager is running. The command succeeds once it has finished.
	Lock = "lock"
	// Fixable: another command could succeed, so a model may propose one.
	Fixable = "fixable"
	// Fatal: no command could succeed, or only one that skips a protection. A person must look; no model
	// is asked for another command.
	Fatal = "fatal"
)

// OutputTail is how many bytes of the end of a command's output Classify and Reason need. The longest
// report seen, a Python traceback of pip's, has 6,000 bytes after its cause. Callers keep only this tail
// in memory; the whole output goes to the log file.
const OutputTail = 16 << 10

// Classify returns the class of a failed command, by how it ended and by the end of its output. Unknown
// words are Fixable: asking a model for another command costs less than stopping for a person.
func Classify(r process.Result, output string) string {
	return judge(r, linesOf(output)).class
}

// Reason returns the line of the output that tells people why the command failed; empty if it printed
// nothing. If no line names the cause, it is the last one that reads like an error, or else the last one.
// The line is as untrusted as the output.
func Reason(r process.Result, output string) string {
	lines := linesOf(output)
	v := judge(r, lines)
	for _, l := range slices.Backward(lines) {
		if m := l.means(); m.class == v.class && m.weight == v.weight && !bare().MatchString(l.text) {
			return strings.TrimSpace(l.short() + " " + m.note)
		}
	}
	for _, l := range slices.Backward(lines) {
		if complaint().MatchString(l.text) && !advice().MatchString(l.text) && !bare().MatchString(l.text) {
			return l.short()
		}
	}
	for _, l := range slices.Backward(lines) {
		if !advice().MatchString(l.text) {
			return l.short()
		}
	}
	return ""
}

// judge reads the output backwards, because tools print last why they gave up: the last line with a cause
// decides. A warning or a retry decides only if the output ends with it, because then the tool was ended
// while it still tried; if other lines follow, the failure has another cause.
func judge(r process.Result, lines []line) verdict {
	// The kernel kills a command for memory. A SIGKILL that wasn't ours is the kernel's; if there is a
	// control group, its counters prove it. A shell or a sandbox reports the signal as exit code 128 + 9.
	if r.Ending == process.NoMemory || r.Ending == process.Exited && (r.Signal == "SIGKILL" || r.ExitCode == 137) {
		return verdict{class: Fatal}
	}
	atEnd := true
	for _, l := range slices.Backward(lines) {
		m := l.means()
		if m.class != "" && (m.weight == cause || m.weight == inPassing && atEnd) {
			return m
		}
		atEnd = atEnd && m.weight == inPassing
	}
	return verdict{class: Fixable, weight: consequence}
}
