package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"signalbox/internal/lazy"
	"signalbox/internal/process"
)

// versionWait is many times what the slowest program needs on an idle machine (Gemini CLI: 2 s). A program that ignores "--version" and waits for
// input ends here.
const versionWait = 30 * time.Second

// Version asks the program on this machine for its version: the first line on standard output, or otherwise on standard error. The program gets an
// empty HOME, so it neither reads nor writes the user's own.
func (p Program) Version(ctx context.Context) (version string, err error) {
	installation, err := p.Installation()
	if err != nil {
		return "", err
	}
	home, err := os.MkdirTemp("", "signalbox-agent-version-")
	if err != nil {
		return "", fmt.Errorf("make a HOME for agent %q: %w", p.Agent, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	end, text, err := p.askVersion(ctx, process.Host{}, process.Command{Args: installation.Args, Dir: home,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home}})
	return p.version(ctx, end, text, err)
}

// VersionIn asks the program for its version where exec runs commands: in the environment, before anything is paid for. If the program is missing
// there, the error names what is missing, and wraps ErrUnseen. HOME is the environment's own.
func (p Program) VersionIn(ctx context.Context, exec process.Executor) (version string, err error) {
	located := p.Located()
	end, text, err := p.askVersion(ctx, exec, process.Command{Args: located.Args, Reads: located.reads()})
	switch {
	// If ctx ended, the start says nothing about the program.
	case ctx.Err() == nil && err != nil:
		return "", unseenError{located.unseen(err.Error()).Message, err}
	case err == nil && notStarted(end):
		return "", unseenError{located.unseen(lastLine(text)).Message, nil}
	}
	return p.version(ctx, end, text, err)
}

// FindIn looks for a program where exec runs commands, without starting it, as package command needs: an unknown program may not know "--version".
// A script's interpreter is looked for, too, and a shell parses its script. The error names what is missing, and wraps ErrUnseen.
func (p Program) FindIn(ctx context.Context, exec process.Executor) error {
	wanted, shell := []string{p.Args[0]}, ""
	switch found, err := p.Find(); {
	case errors.Is(err, ErrNotExecutable):
		return unseenError{fmt.Sprintf("program %q of agent %q cannot be started: it is not an executable file", p.Args[0], p.Agent), err}
	case err == nil:
		interpreter, err := interpreterOf(found)
		if errors.Is(err, ErrLineEnds) {
			return unseenError{fmt.Sprintf("program %q of agent %q cannot be started: it has the line ends of Windows (CRLF)", p.Args[0], p.Agent), err}
		}
		if len(interpreter) > 0 {
			wanted, shell = append(wanted, interpreter[0]), Parser(interpreter[0])
		}
	}
	said := tail{limit: lastBytes}
	c := process.Command{Args: append([]string{"sh", "-c", findAll, "sh", shell}, wanted...), Reads: p.reads(), Stdout: &said, Stderr: &said, Total: versionWait, OutputLimit: lastBytes}
	c.Env = Task{}.environ(p.Env)
	switch end, err := exec.Exec(ctx, c); {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return unseenError{p.unseen(err.Error()).Message, err}
	case end.Ending == process.Exited && end.ExitCode == exitBroken:
		return unseenError{fmt.Sprintf("program %q of agent %q cannot be started: %s", p.Args[0], p.Agent, line(said.marked())), ErrBroken}
	case !end.OK():
		return unseenError{p.unseen(lastLine(said.marked())).Message, nil}
	}
	return nil
}

// findAll prints the first of its arguments that starts no program, or what a shell says against the syntax of the first of them. Some shells find a
// file by its path that can't be executed. Before these arguments comes the shell, or nothing.
const findAll = `shell=$1; shift; first=$1
for program; do
	if ! command -v "$program" >/dev/null; then echo "$program: not found"; exit 1; fi
	case $program in */*)
		if ! [ -x "$program" ]; then echo "$program: cannot execute"; exit 1; fi
		if ! [ -s "$program" ]; then echo "it is empty"; exit 3; fi ;;
	esac
done
[ -z "$shell" ] || $shell -n "$first" || exit 3`

// exitBroken is how findAll ends for a program that is there but holds nothing that could run.
const exitBroken = 3

// ErrBroken: the program is an empty file, or a script that its shell can't read.
var ErrBroken = errors.New("is broken")

// ErrLineEnds: the program is a script whose first line ends as on Windows, so its interpreter isn't found.
var ErrLineEnds = errors.New("has the line ends of Windows (CRLF)")

// ErrUnseen: the program can't be started where it is to work. The error's text names what is missing there.
var ErrUnseen = errors.New("cannot be started")

// unseenError is ErrUnseen with what is missing and how the start ended; cause may be nil.
type unseenError struct {
	says  string
	cause error
}

func (e unseenError) Error() string { return e.says }

func (e unseenError) Unwrap() []error { return []error{ErrUnseen, e.cause} }

// askVersion runs c, which makes the program print its version, and returns both of its streams: programs differ in the one that they use. Telemetry
// is off, because looking at a program must not count as using it (https://consoledonottrack.com).
func (p Program) askVersion(ctx context.Context, exec process.Executor, c process.Command) (end process.Result, text string, err error) {
	said, problems := tail{limit: lastBytes}, tail{limit: lastBytes}
	c.Args, c.Stdout, c.Stderr = slices.Concat(c.Args, []string{"--version"}), &said, &problems
	c.Env = Task{}.environ(slices.Concat(c.Env, []string{"DO_NOT_TRACK=1"}, p.Env))
	c.Total, c.OutputLimit = versionWait, lastBytes
	end, err = exec.Exec(ctx, c)
	return end, said.marked() + "\n" + problems.marked(), err
}

// version parses the output of askVersion: the version is its first line with anything visible. A version that is too old is returned along with the
// error that says so.
func (p Program) version(ctx context.Context, end process.Result, text string, err error) (version string, _ error) {
	switch {
	case err == nil && end.OK():
		for part := range strings.Lines(text) {
			if version = line(part); version != "" {
				break
			}
		}
		found := number().FindString(text)
		if p.Oldest == "" || found == "" || !semver.IsValid("v"+found) || semver.Compare("v"+found, "v"+p.Oldest) >= 0 {
			return version, nil
		}
		return version, fmt.Errorf("%s %s of agent %q %w: Signalbox needs %s or newer%s", p.Title, found, p.Agent, ErrTooOld, p.Oldest, p.upgrading())
	case err == nil && ctx.Err() != nil:
		err = ctx.Err()
	case err == nil:
		err = fmt.Errorf("%s with code %d: %s", end.Ending, end.ExitCode, lastLine(text))
	}
	return "", fmt.Errorf("ask agent %q for its version: %w", p.Agent, err)
}

// ErrTooOld: the program does not know the arguments that its driver uses.
var ErrTooOld = errors.New("is too old")

// number finds the version in a program's output. Output without one passes: a wrapper may print anything.
var number = lazy.Pattern(`\d+\.\d+\.\d+[0-9A-Za-z.+-]*`)

// upgrading returns the end of a message that tells a person how to update the program; empty if that is unknown.
func (p Program) upgrading() string {
	if p.Install == "" {
		return ""
	}
	return ": " + p.Install + "@latest"
}

// misunderstood matches what command-line libraries print about unknown arguments: commander and yargs (JavaScript), clap (Rust), and the programs'
// own words.
var misunderstood = lazy.Pattern(`(?i)unknown (option|argument|flag|command)|unexpected argument|unrecognized (option|argument|subcommand)|` +
	`argument '[^']*' is invalid|invalid value '[^']*' for|Invalid values:`)

// refused returns the failure of a program that ended at once because of its arguments, or nil. Trying again would end the same way. A program that
// began a conversation or used tokens knew its arguments: there the same words are a tool's.
func (p Program) refused(end process.Result, e Ending, stderr string) *Failure {
	words := misunderstood().FindString(stderr)
	if end.Ending != process.Exited || end.OK() || e.Conversation != nil || e.Usage != (Usage{}) || words == "" {
		return nil
	}
	why := lastLine(stderr)
	for l := range strings.Lines(stderr) {
		if misunderstood().MatchString(l) {
			why = line(l)
			break
		}
	}
	return Fail(Unavailable, "agent %q does not know its arguments: %s. If it is old, update it%s", p.Agent, why, p.upgrading())
}
