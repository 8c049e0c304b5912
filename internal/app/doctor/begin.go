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
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// lookAtBeginning names what refuses every run before it begins, whatever else is in order.
func (p *examination) lookAtBeginning(ctx context.Context, add func(Finding)) {
	wrong := func(what string, err error) {
		var known *problem.Error
		if err == nil {
			return
		}
		f := Finding{What: what, Verdict: VerdictMissing, Says: err.Error()}
		if errors.As(err, &known) {
			f.Next = known.Hint
		}
		add(f)
	}
	if p.Trust.Standing == wire.TrustWithheld { // else it is said of the agents
		wrong("repository", p.InMainTree())
	}
	if p.ConfigError == nil {
		_, _, err := workflow.WorkflowPhases(p.Config.Workflow...)
		if err != nil {
			add(Finding{"workflow", VerdictMissing, err.Error(), "correct workflow in " + config.Name})
		}
	}
}

// findProgram says where a shell would take a word from: a program, a built-in or a keyword. It runs none of them.
const findProgram = `command -v -- "$1"`

// lookAtTests names the test commands whose program is neither in the project nor where commands run.
func (p *examination) lookAtTests(ctx context.Context, add func(Finding)) {
	p.lookAtTestLines(ctx, "tests", p.Config.Tests, add)
	p.lookAtTestLines(ctx, "tests_e2e", p.Config.TestsE2E, add)
}

func (p *examination) lookAtTestLines(ctx context.Context, key string, lines []string, add func(Finding)) {
	for _, line := range lines {
		word, ok := firstProgram(line)
		if !ok {
			continue
		}
		if strings.Contains(word, "/") {
			if _, err := os.Stat(filepath.Join(p.Root, word)); !filepath.IsAbs(word) && errors.Is(err, os.ErrNotExist) {
				add(Finding{key, VerdictMissing, fmt.Sprintf("%q starts %s, which is not in the project", line, word), "correct " + key + " in " + config.Name})
			}
			continue
		}
		there, err := p.hasProgram(ctx, word)
		if err == nil && !there {
			p.programMissing(ctx, key, line, word, add)
		}
	}
}

// hasProgram reports whether a word starts something where commands run; true where that cannot be told.
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

// programMissing says that a test's program is not there. A set-up may bring it, which is known once that ran.
func (p *examination) programMissing(ctx context.Context, key, line, word string, add func(Finding)) {
	f := Finding{key, VerdictMissing, fmt.Sprintf("%q starts %s, and there is no such program where commands run", line, word),
		"install it, have environment.set_up install it, or correct " + key + " in " + config.Name}
	found, err := p.DetectHere(ctx, "")
	if len(p.Config.Environment.SetUp) > 0 || p.Config.Environment.SetUp == nil && err == nil && len(found.SetUp) > 0 {
		f.Verdict, f.Next = VerdictWarning, "nothing, if the set-up installs it; a run finds that out before anything is paid for"
	}
	add(f)
}

// firstProgram is the program that a line for sh starts, if that can be told without being a shell.
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
