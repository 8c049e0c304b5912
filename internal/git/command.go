package git

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
	// slow bounds what depends on a network or on the size of a checkout.
	slow = 15 * time.Minute
	// maxOutput bounds what is read into memory: the listing of a change of a million files.
	maxOutput = 256 << 20
)

// call is one invocation of git.
type call struct {
	args []string
	// config are settings of this call alone, as key=value.
	config []string
	input  string
	// stdin is read instead of input where it is not nil.
	stdin io.Reader
	// from is another git folder to read in. What is missing there is not fetched, whatever its configuration says.
	from string
	// dir is the work tree to run in. Empty means the git folder itself, where neither a work
	// tree nor an index exists, so that no .gitattributes of a checkout takes part.
	dir string
	env []string
	// user lets the user's and the machine's git configuration in: credentials for a push,
	// and line endings and filters (large files) for files in the user's own checkout.
	user bool
	// person lets the user's identity in, too: from variables, and no name of ours for reflogs.
	person bool
	// patterns lets paths in args be patterns.
	patterns bool
	// limit is the total time; zero means quick.
	limit time.Duration
	// stdout receives the output as it comes; nil means that run returns it.
	stdout io.Writer
}

// settings hold for every call. What can start a program because of a
// configured path is off, and so is work that nobody asked for.
var settings = []string{
	"core.hooksPath=/dev/null",
	"core.fsmonitor=false",
	"safe.bareRepository=explicit",
	"core.quotepath=false",
	"gc.auto=0",
	"maintenance.auto=false",
	"advice.detachedHead=false",
}

// run returns what git printed. A lock that a live git holds is waited for a
// while: an editor that looks at the status holds one for milliseconds. A lock
// file that a dead git left is removed.
func (r *Repo) run(ctx context.Context, c call) ([]byte, error) {
	retry := time.NewTicker(lockPatience / lockTries)
	defer retry.Stop()
	for range lockTries {
		out, err := r.start(ctx, c)
		path, locked := lockInTheWay(err)
		switch {
		case !locked:
			return out, err
		case r.removeStaleLock(ctx, path):
			continue
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("git %s: %w", c.args[0], context.Cause(ctx))
		case <-retry.C:
		}
	}
	return nil, fmt.Errorf("git %s: %w", c.args[0], ErrLocked)
}

func (r *Repo) start(ctx context.Context, c call) ([]byte, error) {
	var out bytes.Buffer
	errs := tail{limit: 8 << 10}
	command := process.Command{
		Args: r.arguments(c), Dir: c.dir, Env: r.environ(c),
		Stdout: &out, Stderr: &errs, Total: c.limit, OutputLimit: maxOutput,
	}
	if c.dir == "" {
		command.Dir = cmp.Or(c.from, r.gitDir)
	}
	if c.input != "" {
		command.Stdin = strings.NewReader(c.input)
	}
	if c.stdin != nil {
		command.Stdin = c.stdin
	}
	if c.stdout != nil {
		command.Stdout, command.OutputLimit = c.stdout, 0
	}
	if c.limit == 0 {
		command.Total = quick
	}
	result, err := r.exec.Exec(ctx, command)
	if err != nil {
		err = fmt.Errorf("git %s: %w", c.args[0], err)
	}
	if err != nil && result.Started.IsZero() {
		return nil, err
	}
	return out.Bytes(), errors.Join(judge(ctx, c, result, errs.String()), err)
}

func judge(ctx context.Context, c call, result process.Result, stderr string) error {
	switch {
	case ctx.Err() != nil && !result.OK():
		return fmt.Errorf("git %s: %w", c.args[0], context.Cause(ctx))
	case result.Ending == process.TimedOut:
		return fmt.Errorf("git %s: %w after %s: %w", c.args[0], ErrNoAnswer, result.Duration.Round(time.Second), context.DeadlineExceeded)
	case !result.OK():
		return &commandError{
			subcommand: c.args[0], code: result.ExitCode, signal: result.Signal,
			message: complaint(stderr), stderr: stderr,
		}
	case result.Truncated:
		return fmt.Errorf("git %s: more than %d bytes of output", c.args[0], maxOutput)
	}
	return nil
}

func (r *Repo) arguments(c call) []string {
	args := []string{"git"}
	for _, setting := range slices.Concat(settings, c.config) {
		args = append(args, "-c", setting)
	}
	if !c.user {
		args = append(args, "-c", "core.attributesFile=/dev/null")
	}
	if r.trusted && !c.user && r.root != "" {
		args = append(args, "-c", "safe.directory="+r.root)
	}
	if !c.patterns {
		args = append(args, "--literal-pathspecs")
	}
	return append(args, c.args...)
}

// forwarded are the variables with which a user's credential helper, ssh or
// large-file filter finds its files and the network.
var forwarded = []string{
	"HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS",
	"GH_TOKEN", "GITHUB_TOKEN", "GITLAB_TOKEN", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
	"http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO",
}

func (r *Repo) environ(c call) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1",
	}
	named := func(variable string) bool { return strings.HasPrefix(variable, "GIT_COMMITTER_NAME=") }
	switch {
	case c.person:
		env = append(env, personalVariables()...)
	case !slices.ContainsFunc(c.env, named):
		// Reflogs name who moved a ref; without these git guesses from the machine and may refuse.
		env = append(env, "GIT_COMMITTER_NAME=Signalbox", "GIT_COMMITTER_EMAIL=signalbox@localhost")
	}
	if c.dir == "" {
		gitDir := cmp.Or(c.from, r.gitDir)
		env = append(env, "GIT_DIR="+gitDir, "GIT_INDEX_FILE="+filepath.Join(gitDir, "signalbox-no-index"))
	}
	if c.from != "" {
		env = append(env, "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1")
	}
	if !c.user {
		env = append(env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1")
		return append(env, c.env...)
	}
	for _, name := range forwarded {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(env, c.env...)
}
