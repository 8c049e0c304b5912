package agenttest

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/agent"
)

// Protocol is the output of one vendor's program: lines with their ends.
type Protocol struct {
	// Say returns a message of the agent. Answer ends the conversation well with one.
	Say, Answer func(text string) string
	// Asks asks for permission to run each command, reading from in and printing to out as the program does from its start, and returns each
	// answer: "allow", or "deny: " and the reason. After deaf commands it stops reading answers and returns. Nil means that the program can't ask.
	Asks func(in *bufio.Reader, out io.Writer, deaf int, commands ...string) []string
	// EndsTalk ends such a talk well with text; nil is Answer.
	EndsTalk func(text string) string
}

// Line returns a line of a protocol of JSON events.
func Line(event any) string {
	line, err := json.Marshal(event)
	if err != nil {
		panic(err)
	}
	return string(line) + "\n"
}

// variableBehavior makes a test binary the fake program, with this behavior.
const variableBehavior = "SIGNALBOX_TEST_BEHAVIOR"

// Fake returns the settings by which a driver runs the test binary for its program. TestMain has to
// call Main.
func Fake(t *testing.T, b Behavior) agent.Settings {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if b == Missing {
		program = "/opt/" + MissingProgram
	}
	permissions := agent.Everything
	if b == Asks || b == AsksAndHangs || b == AsksAndDies {
		permissions = agent.Ask
	}
	return agent.Settings{Name: "fake", Program: program, Permissions: permissions, Env: []string{
		variableBehavior + "=" + strconv.Itoa(int(b)), "PATH=" + os.Getenv("PATH"),
		// The race detector sleeps for a second at the end of every program.
		"GORACE=atexit_sleep_ms=0",
	}}
}

// Main is the TestMain of a driver: it runs the tests, or the fake program if Fake configured this process.
func Main(m *testing.M, p Protocol) {
	behavior, err := strconv.Atoi(os.Getenv(variableBehavior))
	switch {
	case err != nil:
		os.Exit(m.Run())
	case len(os.Args) == 2 && os.Args[1] == "--version":
		os.Exit(write(os.Stdout, "99.2.3\n"))
	}
	os.Exit(p.play(Behavior(behavior)))
}

// play is the fake program.
func (p Protocol) play(b Behavior) (code int) {
	if b != Deaf && b != Echoes && b != Asks && b != AsksAndHangs && b != AsksAndDies {
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	switch b {
	case Answers, Deaf:
		return write(os.Stderr, WorkLine+"\n") + write(os.Stdout, p.Say(WorkLine)+p.Answer(AnswerText))
	case Fails:
		write(os.Stderr, FailLine+"\n")
		return 1
	case Killed:
		return failed(syscall.Kill(os.Getpid(), syscall.SIGKILL))
	case Hangs:
		return p.hang()
	case Chatters:
		for range time.Tick(100 * time.Millisecond) {
			write(os.Stdout, p.Say("chatter"))
		}
	case Floods:
		for range FloodBytes / len(floodLine) {
			code |= write(os.Stdout, floodLine)
		}
		return code + write(os.Stdout, p.Answer(AnswerText))
	case Echoes:
		prompt, err := io.ReadAll(os.Stdin)
		return failed(err) + write(os.Stdout, p.Say(string(prompt))+p.Answer(string(prompt)))
	case Tells:
		return write(os.Stdout, p.Answer(strings.Join(os.Environ(), "\n")))
	case Leaves:
		return p.leave() + write(os.Stdout, p.Answer("left"))
	case Asks, AsksAndHangs, AsksAndDies:
		return p.ask(b)
	case Stays:
		return p.leave() + p.hang()
	}
	return write(os.Stdout, p.Answer(""))
}

// hang outlives every test, and ends by itself where no signal does it.
func (p Protocol) hang() int {
	<-time.After(10 * time.Minute)
	return 1
}

// floodLine is no line of any protocol: the test doesn't measure how fast JSON is parsed.
var floodLine = strings.Repeat("x", 1<<16-1) + "\n"

func (p Protocol) leave() int {
	said, err := exec.Command("sh", "-c", Daemon).Output()
	return failed(err) + write(os.Stdout, p.Say(string(said)))
}

func (p Protocol) ask(b Behavior) int {
	in := bufio.NewReader(os.Stdin)
	switch b {
	case AsksAndHangs:
		p.Asks(in, os.Stdout, 1, AskedCommands[0])
		return p.hang()
	case AsksAndDies:
		p.Asks(in, os.Stdout, 0, AskedCommands[0])
		write(os.Stderr, FailLine+"\n")
		return 1
	}
	told := p.Asks(in, os.Stdout, len(AskedCommands), AskedCommands...)
	end := p.EndsTalk
	if end == nil {
		end = p.Answer
	}
	code := write(os.Stdout, end(strings.Join(told, "\n")))
	_, _ = io.Copy(io.Discard, in) // real ones end with their input
	return code
}

func write(to *os.File, text string) int {
	_, err := to.WriteString(text)
	return failed(err)
}

func failed(err error) int {
	if err != nil {
		return 1
	}
	return 0
}
