package agent

import "signalbox/internal/process"

// Reader understands what one agent's program prints while it works. A driver makes one per call.
type Reader interface {
	// Line takes one line of standard output, which is only lent, and says what it tells. A line
	// that is not kept does not go into the raw output: it repeats what others say.
	Line(line []byte) (entries []Entry, keep bool)
	// End says what the call came to, once the program ended and whatever ended it.
	End(end process.Result, stderr string) Ending
}

// Ending is what a call came to by the agent's own end rule.
type Ending struct {
	// Whole: the agent said that it had finished, so it does not matter how its program ended after.
	Whole  bool
	Answer string
	// Failure is what the agent says went wrong, or what it was last trying again because of. Without
	// one an ending that is not Whole is a crash.
	Failure *Failure
	Usage   Usage
	// Conversation is nil where there is none to go on with.
	Conversation *Conversation
	// Denied are the tools that it was not allowed to use.
	Denied []string
}
