package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"signalbox/internal/config"
	"signalbox/internal/git"
	"signalbox/internal/problem"
	"signalbox/internal/wire"
)

func (p *project) lookAtRepository(ctx context.Context, add func(finding)) {
	if _, err := p.Repo.DefaultBranch(ctx); errors.Is(err, git.ErrNotFound) {
		add(finding{"repository", verdictMissing, p.Root + ": nothing is committed yet, so no run can begin", wire.FirstCommit})
		return
	}
	_, err := p.Base(ctx)
	if err == nil {
		err = p.NameIsFree(ctx)
	}
	var known *problem.Error
	if errors.As(err, &known) {
		add(finding{"repository", verdictMissing, known.Error(), known.Hint})
		return
	}
	add(finding{What: "repository", Verdict: verdictOK, Says: p.Root})
}

// lookAtConfig reports whether the settings are what the file says. If they are not, nothing
// that depends on them is known.
func (p *project) lookAtConfig(add func(finding)) bool {
	switch {
	case p.ConfigError != nil:
		add(finding{"configuration", verdictMissing, strings.TrimPrefix(p.ConfigError.Error(), "configuration "),
			"mend the file; tests, isolation, network and agents are looked at then"})
	case !p.Configured:
		add(finding{"configuration", verdictWarning, "there is no " + config.Name + "; the defaults hold", "write one: signalbox init"})
	default:
		add(finding{What: "configuration", Verdict: verdictOK, Says: config.Name})
	}
	return p.ConfigError == nil
}

// lookAtTrust reports whether the settings count. Where they do not, a run asks first, or ends.
func (p *project) lookAtTrust(add func(finding)) bool {
	switch p.Trust.Standing {
	case wire.StandsWithheld:
		says := []string{"what the project's files do to this machine does not count before you agree to it, so agents, isolation, network and health are not looked at:"}
		for _, r := range p.Trust.List {
			says = append(says, "  "+wire.Visible(r.Key)+": "+wire.Visible(r.Value))
		}
		add(finding{"trust", verdictMissing, strings.Join(says, "\n"), "signalbox trust"})
	case wire.StandsOwn:
		add(finding{What: "trust", Verdict: verdictOK, Says: "no commit brought what the project's files do to this machine: it is yours"})
	case wire.StandsAgreed:
		add(finding{What: "trust", Verdict: verdictOK, Says: "you agreed to what the project's files do to this machine (signalbox trust --show)"})
	}
	return p.Trust.Standing != wire.StandsWithheld
}

func (p *project) lookAtPrompts(add func(finding)) {
	if own, err := p.Prompts(); err != nil {
		add(finding{"prompts", verdictMissing, err.Error(), "mend the file below " + wire.PromptsDir})
	} else if len(own) > 0 {
		add(finding{What: "prompts", Verdict: verdictOK, Says: count(len(own), "prompt") + " of the project's own in " + wire.PromptsDir})
	}
}

func (p *project) lookAtSettings(add func(finding)) {
	if len(p.Config.Tests) == 0 && len(p.Config.TestsE2E) == 0 {
		add(finding{"tests", verdictWarning, "no test command is configured, so nothing proves a change", "set tests in " + config.Name})
	} else {
		add(finding{What: "tests", Verdict: verdictOK, Says: fmt.Sprint([]string(p.Config.Tests))})
	}
	if len(p.Config.TestsE2E) > 0 {
		add(finding{What: "tests_e2e", Verdict: verdictOK, Says: fmt.Sprint([]string(p.Config.TestsE2E))})
	}
	if p.Config.Environment.OnFailure == config.OnFailureContinue {
		add(finding{What: "set-up", Verdict: verdictOK, Says: "a run goes on, with a warning, where the environment cannot be set up (environment.on_failure: continue)"})
	} else {
		add(finding{What: "set-up", Verdict: verdictOK, Says: "a run stops where the environment cannot be set up (environment.on_failure: stop)"})
	}
	for _, path := range p.Config.Environment.Read {
		if _, err := os.Stat(path); err != nil || !filepath.IsAbs(path) {
			add(finding{"environment", verdictWarning, fmt.Sprintf("%q cannot be shown to commands", path), "set environment.read to absolute paths that exist"})
		}
	}
	for _, name := range p.Config.Environment.Variables {
		if _, set := os.LookupEnv(name); !set && !strings.Contains(name, "=") {
			add(finding{"environment", verdictWarning, fmt.Sprintf("the variable %q isn't set here, so commands don't get it (environment.variables)", name),
				"export it, or write NAME=value"})
		}
	}
}
