// Package plumbing runs git for environments, on this machine or inside a sandbox. Its settings replace every configuration of
// the repository and of this machine.
package plumbing

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/environment"
	"signalbox/internal/lazy"
	"signalbox/internal/process"
	"signalbox/internal/redact"
)

// Timeout is longer than git needs for the largest projects, and ends a git that hangs.
const Timeout = 30 * time.Minute

// checkoutWorkers is how many processes of git write the files of a large work folder. They wait for the disk about as long as
// they compute; more than a few wait for each other.
var checkoutWorkers = min(2*runtime.NumCPU(), 8)

// settings apply to every git that we run, also inside: git runs no program that a repository's configuration names, uses
// nothing of this machine's configuration, and takes content as it is on disk.
var settings = [][2]string{
	{"core.hooksPath", "/dev/null"},
	{"safe.bareRepository", "explicit"},
	{"core.fsmonitor", "false"},
	{"core.attributesFile", "/dev/null"},
	{"core.excludesFile", "/dev/null"},
	{"core.autocrlf", "false"},
	{"core.safecrlf", "false"},
	{"core.fileMode", "true"},
	{"core.symlinks", "true"},
	{"core.untrackedCache", "false"},
	{"core.splitIndex", "false"},
	{"core.sparseCheckout", "false"},
	{"checkout.workers", strconv.Itoa(checkoutWorkers)},
	{"core.quotePath", "false"},
	{"submodule.recurse", "false"},
	{"protocol.allow", "never"},
	{"protocol.file.allow", "always"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
}

// Git starts git on this machine.
type Git struct {
	Exec process.Executor
	Path string // PATH
}

// Variables returns the variables of those calls. The settings are among them, because every git of a script reads variables,
// and they outrank each configuration file.
func (g Git) Variables(further ...string) []string {
	list := append([]string{
		"PATH=" + g.Path,
		"LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_CONFIG_COUNT=" + strconv.Itoa(len(settings)),
	}, further...)
	for i, s := range settings {
		n := strconv.Itoa(i)
		list = append(list, "GIT_CONFIG_KEY_"+n+"="+s[0], "GIT_CONFIG_VALUE_"+n+"="+s[1])
	}
	return list
}

// Run runs git on this machine: in the project's own repository, in our import repository, or in a clone that no command has
// seen yet.
func (g Git) Run(ctx context.Context, c process.Command) (string, error) {
	c.Args = append([]string{"git"}, c.Args...)
	c.Env, c.Total = g.Variables(c.Env...), Timeout
	return Output(ctx, c, g.Exec.Exec)
}

// Output runs c and returns its output. An exit code other than 0 is an error with git's complaint.
func Output(ctx context.Context, c process.Command, run func(context.Context, process.Command) (process.Result, error)) (string, error) {
	var stdout, stderr bytes.Buffer
	if c.Stdout == nil {
		c.Stdout, c.OutputLimit = &stdout, maxListing
	}
	c.Stderr = &stderr
	result, err := run(ctx, c)
	denied := deniedPattern().FindStringSubmatch(stderr.String())
	switch {
	case err != nil:
		return "", err
	case ctx.Err() != nil:
		return "", ctx.Err()
	case denied != nil: // even if git continues without the file, as it does without a folder
		return "", &fs.PathError{Op: "read", Path: denied[1], Err: fs.ErrPermission}
	case result.Truncated:
		return "", fmt.Errorf("git printed more than %d bytes: %w", maxListing, environment.ErrTooLarge)
	case !result.OK():
		return "", fmt.Errorf("git exited %d (%s%s): %s", result.ExitCode, result.Ending, result.Signal, Complaint(stderr.String()))
	}
	return stdout.String(), nil
}

// deniedPattern matches git's message about a file or folder that it may not read.
var deniedPattern = lazy.Pattern(`(?m)^(?:error: open\("|warning: could not open directory ')(.+)["']\)?: Permission denied$`)

// maxListing bounds the file names held in memory. It is enough for far more than a million.
const maxListing = 256 << 20

// Complaint returns git's error messages on one line, without control characters.
func Complaint(stderr string) string {
	var lines []string
	for line := range strings.Lines(stderr) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "error:") || strings.HasPrefix(line, "fatal:") {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		lines = []string{strings.TrimSpace(stderr)}
	}
	said := strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, redact.Clean(strings.Join(lines, "; ")))
	return redact.Cut(said, 2000)
}

// ObjectFolders returns the project's folder of objects and those of its alternates.
func ObjectFolders(objects string) ([]string, error) {
	folders := []string{objects}
	for i := 0; i < len(folders); i++ {
		data, err := os.ReadFile(folders[i] + "/info/alternates")
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read alternates of %s: %w", folders[i], err)
		}
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "/") && len(folders) < 8 {
				folders = append(folders, line)
			}
		}
	}
	return folders, nil
}
