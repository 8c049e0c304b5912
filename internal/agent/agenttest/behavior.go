package agenttest

import (
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// Behavior is what an agent's program has to do. A driver's Harness arranges it in its own way: by a shell script, a replay script, or the answers of a
// model's server.
type Behavior int

const (
	// Answers prints WorkLine on standard error and then AnswerText on standard output.
	Answers Behavior = iota
	// Silent ends well and prints nothing.
	Silent
	// Fails prints FailLine on standard error and exits with code 1.
	Fails
	// Killed ends itself by SIGKILL.
	Killed
	// Hangs prints nothing and does not end.
	Hangs
	// Chatters prints a line several times a second and does not end.
	Chatters
	// Floods prints FloodBytes on standard output and ends well.
	Floods
	// Echoes prints the prompt on standard output.
	Echoes
	// Deaf does what Answers does and reads nothing of the prompt.
	Deaf
	// Tells prints its environment, as env(1) does.
	Tells
	// Leaves runs Daemon in a shell in the working directory and ends well.
	Leaves
	// Stays runs Daemon in the same way and then does not end.
	Stays
	// Asks asks for permission to run each of AskedCommands, ends well, and prints the answers, one per line.
	Asks
	// AsksAndHangs asks for the first of AskedCommands, and does not end once it is answered.
	AsksAndHangs
	// AsksAndDies asks for the same, and does what Fails does without waiting for an answer.
	AsksAndDies
	// Missing is a program that does not exist; its path ends in MissingProgram.
	Missing
)

// Texts and commands that the behaviors print and run.
const (
	WorkLine   = "looking at the work"
	AnswerText = `{"done": "ja, »ganz« \\ 完"}`
	FailLine   = "the model said no"
	FloodBytes = 64 << 20 // many times every limit; a test of the command line has a whole run read a gigabyte
	// Daemon starts a process in a session of its own that holds the FIFO of the name DaemonFIFO
	// open as long as it lives, and neither standard stream. It prints DaemonLine once that
	// process is on its own.
	Daemon         = `echo "$(setsid sh -c 'echo ` + DaemonLine + `; exec sleep 600 >&3 2>&3' 3>` + DaemonFIFO + ` </dev/null &)"`
	DaemonFIFO     = "alive"
	DaemonLine     = "the daemon is there"
	MissingProgram = "there-is-no-such-agent"
)

// AskedCommands are the commands that a program asks to run: a harmless one, and one that hides what it does.
var AskedCommands = []string{"go test ./...", "echo '\x1b[2J\u202e'\nrm -rf ~"}

// Harness is a driver's part of the suite.
type Harness struct {
	// Exec is where the agents run, Dir a new and empty working directory there that the test
	// can also see by this name.
	Exec process.Executor
	Dir  func(t *testing.T) string
	// Agent makes an agent whose program has this behavior.
	Agent func(t *testing.T, behavior Behavior) agent.Agent
	// Asks: the driver's agent can be configured to ask.
	Asks bool
}

// Prompt holds text that shells, templates and argument lists trip over.
var Prompt = "Fix \"it\"; $(id) `id` ${HOME} %s \\n {prompt} 'quoted'\n\n\ttabs\r\n— ümläut 完了 🚦 \x1b[31m\n" +
	strings.Repeat("A line that is one of many.\n", 3000) + "The end."
