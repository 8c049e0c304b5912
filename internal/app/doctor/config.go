package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"signalbox/internal/config"
	"signalbox/internal/git"
	"signalbox/internal/problem"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// lookAtRepository reports what refuses every run before it begins.
func (p *examination) lookAtRepository(ctx context.Context, add func(Finding)) {
	if _, err := p.Repo.DefaultBranch(ctx); errors.Is(err, git.ErrNotFound) {
		add(Finding{"repository", VerdictMissing, p.Root + ": nothing is committed yet, so no run can begin", wire.FirstCommit})
	} else {
		base, err := p.Base(ctx)
		if err == nil {
			err = p.NameIsFree(ctx)
		}
		if err == nil {
			partial, _ := p.Repo.Promisor(ctx) // such a clone may lack anything, and lookAtStart speaks of it
			commit, none := p.Repo.Resolve(ctx, "refs/heads/"+base)
			if _, lost := p.Repo.TreeFiles(ctx, commit); lost != nil && none == nil && partial == "" {
				err = &problem.Error{Err: fmt.Errorf("git can't read the files of %s: %w", base, lost),
					Hint: "see what the repository lacks: git fsck; then fetch it from where it still is, or clone the project again"}
			}
		}
		if known := (*problem.Error)(nil); errors.As(err, &known) {
			add(Finding{"repository", VerdictMissing, known.Error(), known.Hint})
		} else {
			add(Finding{What: "repository", Verdict: VerdictOK, Says: p.Root})
		}
	}
	if err := p.InMainTree(); err != nil {
		add(findingOf("repository", err))
	}
	if p.ConfigError == nil {
		if _, _, err := workflow.WorkflowPhases(p.Config.Workflow...); err != nil {
			add(Finding{"workflow", VerdictMissing, err.Error(), p.FixWorkflow()})
		}
	}
}

func (p *examination) lookAtConfig(add func(Finding)) {
	switch {
	case p.ConfigError != nil:
		f := findingOf("configuration", p.ConfigError)
		if f.Says = strings.TrimPrefix(f.Says, "configuration "); f.Next == "" || f.Next == wire.FixConfiguration {
			f.Next = "fix the file"
		}
		f.Next += "; tests, isolation, network and agents are looked at then"
		add(f)
		return
	case !p.Configured:
		add(Finding{"configuration", VerdictWarning, "there is no " + config.Name + ", so the defaults apply", "write one: signalbox init"})
	default:
		add(Finding{What: "configuration", Verdict: VerdictOK, Says: config.Name})
	}
	if len(p.Config.Tests) == 0 && len(p.Config.TestsE2E) == 0 {
		add(Finding{"tests", VerdictWarning, "no test command is configured, so nothing proves a change: a person has to look at every one", "set tests in " + config.Name})
	} else {
		add(Finding{What: "tests", Verdict: VerdictOK, Says: fmt.Sprint([]string(p.Config.Tests))})
	}
	if len(p.Config.TestsE2E) > 0 {
		add(Finding{What: "tests_e2e", Verdict: VerdictOK, Says: fmt.Sprint([]string(p.Config.TestsE2E))})
	}
	if p.Config.Environment.OnFailure == config.OnFailureContinue {
		add(Finding{What: "setup", Verdict: VerdictOK, Says: "a run continues, with a warning, if the environment can't be set up (environment.on_failure: continue)"})
	} else {
		add(Finding{What: "setup", Verdict: VerdictOK, Says: "a run stops if the environment can't be set up (environment.on_failure: stop)"})
	}
	for _, path := range p.Config.Environment.Read {
		if err := wire.CheckRead(path); err != nil {
			add(findingOf("environment", err))
		}
	}
	for _, name := range p.Config.Environment.Variables {
		if _, set := os.LookupEnv(name); !set && !strings.Contains(name, "=") {
			add(Finding{"environment", VerdictWarning, fmt.Sprintf("the variable %q isn't set here, so commands don't get it (environment.variables)", name),
				"export it, or write NAME=value"})
		}
	}
}

// lookAtTrust returns whether the user trusts the settings. If not, a run asks first, or ends.
func (p *examination) lookAtTrust(add func(Finding)) bool {
	switch p.Trust.Standing {
	case wire.TrustWithheld:
		says := []string{"the project's settings that reach this machine don't count until you agree to them, so agents, isolation, network, the forge and health are not looked at:"}
		for _, r := range p.Trust.List {
			says = append(says, "  "+wire.Visible(r.Key)+": "+wire.Visible(r.Value))
		}
		add(Finding{"trust", VerdictMissing, strings.Join(says, "\n"), "signalbox trust"})
	case wire.TrustAgreed:
		add(Finding{What: "trust", Verdict: VerdictOK, Says: "you agreed to what the project's files do to this machine (signalbox trust --show)"})
	}
	return p.Trust.Standing != wire.TrustWithheld
}

// lookAtBroughtSettings reports the agents' settings that the repository brings.
func (p *examination) lookAtBroughtSettings(ctx context.Context, add func(Finding)) {
	notes, err := p.BroughtSettings(ctx, p.Repo.WorkFiles)
	if err != nil {
		add(Finding{"agents", VerdictWarning, err.Error(), ""})
	}
	for _, note := range notes {
		add(Finding{"agents", VerdictWarning, note, ""})
	}
}

// lookAtNotifications reports the entries under notify that can't work. It sends nothing.
func (p *examination) lookAtNotifications(add func(Finding)) {
	c := p.Config.Notify
	if c.Desktop {
		if _, err := exec.LookPath("notify-send"); err != nil {
			add(Finding{"notify", VerdictMissing, "notify.desktop needs the program notify-send, which isn't in PATH", "install it: sudo apt-get install libnotify-bin"})
		}
	}
	if len(c.Command) > 0 {
		program := c.Command[0]
		if strings.Contains(program, "/") && !filepath.IsAbs(program) {
			program = filepath.Join(p.Root, program)
		}
		if _, err := exec.LookPath(program); err != nil {
			add(Finding{"notify", VerdictMissing, fmt.Sprintf("the program of notify.command can't be started: %s", err), "fix notify.command in " + config.Name})
		}
	}
	for _, address := range []struct{ key, value string }{{"notify.webhook", c.Webhook}, {"notify.slack", c.Slack}, {"notify.discord", c.Discord}, {"notify.ntfy", c.Ntfy}} {
		if address.value != "" && config.Address(address.value) == "" {
			add(Finding{"notify", VerdictMissing, fmt.Sprintf("%s takes its address from %s, which isn't set here", address.key, address.value),
				"export it where runs are started"})
		}
	}
}
