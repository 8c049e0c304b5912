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
)

func (p *project) lookAtRepository(ctx context.Context, add func(finding)) {
	if _, err := p.repo.DefaultBranch(ctx); errors.Is(err, git.ErrNotFound) {
		add(finding{"repository", verdictMissing, p.root + ": nothing is committed yet, so no run can begin", firstCommit})
		return
	}
	_, err := p.base(ctx)
	if err == nil {
		err = p.nameIsFree(ctx)
	}
	var known *problem
	if errors.As(err, &known) {
		add(finding{"repository", verdictMissing, known.Error(), known.hint})
		return
	}
	add(finding{What: "repository", Verdict: verdictOK, Says: p.root})
}

// lookAtConfig reports whether the settings are what the file says. If they are not, nothing
// that depends on them is known.
func (p *project) lookAtConfig(add func(finding)) bool {
	switch {
	case p.configError != nil:
		add(finding{"configuration", verdictMissing, strings.TrimPrefix(p.configError.Error(), "configuration "),
			"mend the file; tests, isolation, network and agents are looked at then"})
	case !p.configured:
		add(finding{"configuration", verdictWarning, "there is no " + config.Name + "; the defaults hold", "write one: signalbox init"})
	default:
		add(finding{What: "configuration", Verdict: verdictOK, Says: config.Name})
	}
	return p.configError == nil
}

// lookAtTrust reports whether the settings count. Where they do not, a run asks first, or ends.
func (p *project) lookAtTrust(add func(finding)) bool {
	switch p.trust.standing {
	case standsWithheld:
		says := []string{"what the project's files do to this machine does not count before you agree to it, so agents, isolation, network and health are not looked at:"}
		for _, r := range p.trust.list {
			says = append(says, "  "+visible(r.Key)+": "+visible(r.Value))
		}
		add(finding{"trust", verdictMissing, strings.Join(says, "\n"), "signalbox trust"})
	case standsOwn:
		add(finding{What: "trust", Verdict: verdictOK, Says: "no commit brought what the project's files do to this machine: it is yours"})
	case standsAgreed:
		add(finding{What: "trust", Verdict: verdictOK, Says: "you agreed to what the project's files do to this machine (signalbox trust --show)"})
	}
	return p.trust.standing != standsWithheld
}

func (p *project) lookAtPrompts(add func(finding)) {
	if own, err := p.prompts(); err != nil {
		add(finding{"prompts", verdictMissing, err.Error(), "mend the file below " + promptsDir})
	} else if len(own) > 0 {
		add(finding{What: "prompts", Verdict: verdictOK, Says: count(len(own), "prompt") + " of the project's own in " + promptsDir})
	}
}

func (p *project) lookAtSettings(add func(finding)) {
	if len(p.config.Tests) == 0 && len(p.config.TestsE2E) == 0 {
		add(finding{"tests", verdictWarning, "no test command is configured, so nothing proves a change", "set tests in " + config.Name})
	} else {
		add(finding{What: "tests", Verdict: verdictOK, Says: fmt.Sprint([]string(p.config.Tests))})
	}
	if len(p.config.TestsE2E) > 0 {
		add(finding{What: "tests_e2e", Verdict: verdictOK, Says: fmt.Sprint([]string(p.config.TestsE2E))})
	}
	if p.config.Environment.OnFailure == config.OnFailureContinue {
		add(finding{What: "set-up", Verdict: verdictOK, Says: "a run goes on, with a warning, where the environment cannot be set up (environment.on_failure: continue)"})
	} else {
		add(finding{What: "set-up", Verdict: verdictOK, Says: "a run stops where the environment cannot be set up (environment.on_failure: stop)"})
	}
	for _, path := range p.config.Environment.Read {
		if _, err := os.Stat(path); err != nil || !filepath.IsAbs(path) {
			add(finding{"environment", verdictWarning, fmt.Sprintf("%q cannot be shown to commands", path), "set environment.read to absolute paths that exist"})
		}
	}
	for _, name := range p.config.Environment.Variables {
		if _, set := os.LookupEnv(name); !set && !strings.Contains(name, "=") {
			add(finding{"environment", verdictWarning, fmt.Sprintf("the variable %q isn't set here, so commands don't get it (environment.variables)", name),
				"export it, or write NAME=value"})
		}
	}
}
