package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"signalbox/internal/config"
	"signalbox/internal/process"
)

// findProgram finds what a shell would run for a word: a program, a built-in or a keyword. It runs none of them.
const findProgram = `command -v -- "$1"`

// lookAtTests reports the test commands whose program is neither in the project nor where commands run.
func (p *examination) lookAtTests(ctx context.Context, add func(Finding)) {
	for _, test := range []struct {
		key   string
		lines []string
	}{{"tests", p.Config.Tests}, {"tests_e2e", p.Config.TestsE2E}} {
		for _, line := range test.lines {
			word, ok := firstProgram(line)
			if !ok {
				continue
			}
			if strings.Contains(word, "/") {
				if _, err := os.Stat(filepath.Join(p.Root, word)); !filepath.IsAbs(word) && errors.Is(err, os.ErrNotExist) {
					add(Finding{test.key, VerdictMissing, fmt.Sprintf("%q starts %s, which is not in the project", line, word), "correct " + test.key + " in " + config.Name})
				}
				continue
			}
			if there, err := p.hasProgram(ctx, word); err != nil || there {
				continue
			}
			f := Finding{test.key, VerdictMissing, fmt.Sprintf("%q starts %s, and there is no such program where commands run", line, word),
				"install it, have environment.set_up install it, or correct " + test.key + " in " + config.Name}
			found, err := p.DetectHere(ctx, "")
			if len(p.Config.Environment.SetUp) > 0 || p.Config.Environment.SetUp == nil && err == nil && len(found.SetUp) > 0 {
				f.Verdict, f.Next = VerdictWarning, "nothing, if the setup installs it; a run finds out before anything is paid for"
			}
			add(f)
		}
	}
}

// hasProgram reports whether a word starts something where commands run; true if that can't be found out.
func (p *examination) hasProgram(ctx context.Context, word string) (there bool, err error) {
	look := func(ctx context.Context, exec process.Executor) error {
		result, err := exec.Exec(ctx, process.Command{Args: []string{"sh", "-c", findProgram, "sh", word}, Env: p.Variables(), Total: lookWait, OutputLimit: 4 << 10})
		there = err != nil || ctx.Err() != nil || result.Ending != process.Exited || result.OK()
		return err
	}
	there = true
	if p.Unsandboxed() {
		return there, look(ctx, p.Host())
	}
	_, err = p.TryInside(ctx, look)
	return there, err
}

// lookWait is how long it may take to look for a program.
const lookWait = 10 * time.Second

// firstProgram is the program that a line for sh starts, if that is clear without parsing it as a shell does.
func firstProgram(line string) (word string, ok bool) {
	for _, word = range strings.Fields(line) {
		name, _, assigned := strings.Cut(word, "=")
		if assigned && !strings.ContainsAny(name, "/.-") {
			continue
		}
		return word, !strings.ContainsAny(word, "$`\"'(){}|&;<>*?[]~\\!#")
	}
	return "", false
}
