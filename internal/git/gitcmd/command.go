// Package gitcmd runs the git program: with settings and variables under which it starts no hook or
// monitor, within a time limit, past the lock files that a killed git left, and with errors in git's own
// words. It doesn't know what git is asked, or why.
package gitcmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"signalbox/internal/process"
)

const (
	// quick is more than any local look-up takes on a loaded machine with a cold disk.
	quick = 30 * time.Second
	// Slow limits calls that depend on a network or on the size of a checkout.
	Slow = 15 * time.Minute
	// maxOutput is how many bytes are read into memory: the listing of a change of a million files.
	maxOutput = 256 << 20
)

// Runner runs git on one repository. It is safe for concurrent use.
type Runner struct {
	Exec process.Executor
	// Root is the top folder of the work tree, GitDir the folder that holds refs and configuration.
	Root, GitDir string
	// Trusted: another user owns the repository, and the user's safe.directory names it, or everything.
	Trusted bool
}

// Call is one invocation of git.
type Call struct {
	Args []string
	// Config are settings for this call only, as key=value.
	Config []string
	Input  string
	// Stdin, if not nil, is read instead of Input.
	Stdin io.Reader
	// From is another git folder to read in. Git fetches nothing for it, despite its configuration.
	From string
	// Dir is the work tree to run in. Empty means the git folder itself, which has neither a work tree
	// nor an index, so no .gitattributes of a checkout takes part.
	Dir string
	Env []string
	// User lets in the user's and the machine's git configuration: credentials for a push, and line
	// endings and filters (large files) for files in the user's own checkout.
	User bool
	// Person also lets in the user's identity: from variables, and without our name for reflogs.
	Person bool
	// Patterns lets paths in Args be patterns.
	Patterns bool
	// Limit is the total time; zero means quick, enough for a look-up.
	Limit time.Duration
	// Stdout receives the output as it comes; nil means that Run returns it.
	Stdout io.Writer
}

// settings apply to every call. They turn off what can start a program from a configured path, and
// maintenance that the call didn't ask for.
var settings = []string{
	"core.hooksPath=/dev/null",
	"core.fsmonitor=false",
	"safe.bareRepository=explicit",
	"core.quotepath=false",
	"gc.auto=0",
	"maintenance.auto=false",
	"advice.detachedHead=false",
}

// Run returns what git printed. It waits up to lockPatience for a lock that a live git holds: an editor
// that looks at the status holds one for milliseconds. It removes a lock file that a dead git left.
func (r *Runner) Run(ctx context.Context, c Call) ([]byte, error) {
	retry := time.NewTicker(lockPatience / lockTries)
	defer retry.Stop()
	for range lockTries {
		out, err := r.start(ctx, c)
		var failed *Error
		if !errors.As(err, &failed) {
			return out, err
		}
		lock := lockMessage().FindStringSubmatch(failed.Stderr)
		if lock == nil {
			return out, err
		}
		if r.RemoveStaleLock(ctx, lock[1]) {
			continue
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("git %s: %w", c.Args[0], context.Cause(ctx))
		case <-retry.C:
		}
	}
	return nil, fmt.Errorf("git %s: %w", c.Args[0], ErrLocked)
}

func (r *Runner) start(ctx context.Context, c Call) ([]byte, error) {
	var out bytes.Buffer
	errs := tail{limit: 8 << 10}
	command := process.Command{
		Args: r.arguments(c), Dir: c.Dir, Env: r.environ(c),
		Stdout: &out, Stderr: &errs, Total: c.Limit, OutputLimit: maxOutput,
	}
	if c.Dir == "" {
		command.Dir = cmp.Or(c.From, r.GitDir)
	}
	if c.Input != "" {
		command.Stdin = strings.NewReader(c.Input)
	}
	if c.Stdin != nil {
		command.Stdin = c.Stdin
	}
	if c.Stdout != nil {
		command.Stdout, command.OutputLimit = c.Stdout, 0
	}
	if c.Limit == 0 {
		command.Total = quick
	}
	result, err := r.Exec.Exec(ctx, command)
	if err != nil {
		err = fmt.Errorf("git %s: %w", c.Args[0], err)
	}
	if err != nil && result.Started.IsZero() {
		return nil, err
	}
	var failure error
	switch {
	case ctx.Err() != nil && !result.OK():
		failure = fmt.Errorf("git %s: %w", c.Args[0], context.Cause(ctx))
	case result.Ending == process.TimedOut:
		after := result.Duration.Round(time.Second)
		failure = fmt.Errorf("git %s: %w after %s: %w", c.Args[0], ErrNoAnswer, after, context.DeadlineExceeded)
	case !result.OK():
		said := string(errs.kept)
		failure = &Error{subcommand: c.Args[0], Code: result.ExitCode, Signal: result.Signal, Message: complaint(said), Stderr: said}
	case result.Truncated:
		failure = fmt.Errorf("git %s: more than %d bytes of output", c.Args[0], maxOutput)
	}
	return out.Bytes(), errors.Join(failure, err)
}

func (r *Runner) arguments(c Call) []string {
	args := []string{"git"}
	for _, setting := range slices.Concat(settings, c.Config) {
		args = append(args, "-c", setting)
	}
	if !c.User {
		args = append(args, "-c", "core.attributesFile=/dev/null")
	}
	if r.Trusted && !c.User && r.Root != "" {
		args = append(args, "-c", "safe.directory="+r.Root)
	}
	if !c.Patterns {
		args = append(args, "--literal-pathspecs")
	}
	return append(args, c.Args...)
}

// forwarded are the variables that a user's credential helper, ssh or large-file filter needs to find its
// files and the network.
var forwarded = []string{
	"HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS",
	"GH_TOKEN", "GITHUB_TOKEN", "GITLAB_TOKEN", "GITEA_TOKEN", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
	"http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO",
}

func (r *Runner) environ(c Call) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1",
	}
	named := func(variable string) bool { return strings.HasPrefix(variable, "GIT_COMMITTER_NAME=") }
	switch {
	case c.Person:
		env = append(env, Inherited(identifying...)...)
	case !slices.ContainsFunc(c.Env, named):
		// For reflogs; without these, git guesses a name from the machine and may refuse.
		env = append(env, "GIT_COMMITTER_NAME=Signalbox", "GIT_COMMITTER_EMAIL=signalbox@localhost")
	}
	if c.Dir == "" {
		gitDir := cmp.Or(c.From, r.GitDir)
		env = append(env, "GIT_DIR="+gitDir, "GIT_INDEX_FILE="+filepath.Join(gitDir, "signalbox-no-index"))
	}
	if c.From != "" {
		env = append(env, "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1")
	}
	if !c.User {
		env = append(env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1")
		return append(env, c.Env...)
	}
	env = append(env, Inherited(forwarded...)...)
	return append(env, c.Env...)
}

// identifying are the variables that git takes an identity from before any file.
var identifying = []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL"}

// Inherited returns those of the named variables that our own environment has, as NAME=value.
func Inherited(names ...string) (env []string) {
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
