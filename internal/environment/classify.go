package environment

import (
	"slices"
	"strings"

	"signalbox/internal/process"
)

// The classes of a failed set-up command (SPEC P6). What to do about each is
// workflow's to say; what a tool's words mean is said here.
const (
	Network = "network" // the other side was not reached
	Server  = "server"  // it was, and has a passing trouble of its own
	Lock    = "lock"    // another package manager is at work
	Fixable = "fixable" // another command could succeed
	Fatal   = "fatal"   // no command could, or only one that nobody should want
)

// OutputTail is how much of the end of a command's output Classify and Reason
// want to see, in bytes: the longest report seen, a Python traceback of pip's,
// has 6,000 of them after its cause.
const OutputTail = 16 << 10

// Classify says which class a failed command's end is of, by how it ended and
// by the last of what it printed.
func Classify(r process.Result, output string) string {
	return judge(r, linesOf(output)).class
}

// Reason is the one line of the output that tells people why the command
// failed; empty when it printed nothing. It is as untrusted as the output.
func Reason(r process.Result, output string) string {
	lines := linesOf(output)
	v := judge(r, lines)
	for _, l := range slices.Backward(lines) {
		if m := l.means(); m.class == v.class && m.weight == v.weight && !bare.match(l.text) {
			return strings.TrimSpace(l.short() + " " + m.note)
		}
	}
	return lastWords(lines)
}

// judge goes through the output backwards, because what a tool says last is
// why it gave up: the last line that tells a cause decides. Words in passing do
// only where the output ends with them, because the tool was ended while it
// still tried or waited; what follows them otherwise is another trouble.
func judge(r process.Result, lines []line) verdict {
	if outOfMemory(r) {
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

// outOfMemory: a SIGKILL that was not ours is the kernel's, which says so by
// the counters of a control group where there is one. A shell or a sandbox
// passes it on as 128 + 9.
func outOfMemory(r process.Result) bool {
	return r.Ending == process.NoMemory || r.Ending == process.Exited && (r.Signal == "SIGKILL" || r.ExitCode == 137)
}
