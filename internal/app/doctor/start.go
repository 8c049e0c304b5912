package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"signalbox/internal/commandline"
	"signalbox/internal/forge"
	"signalbox/internal/perform"
	"signalbox/internal/redact"
	"signalbox/internal/wire"
)

// remoteWait is how long doctor waits for a remote. A run waits longer.
const remoteWait = 20 * time.Second

// lookAtStart reports what would stop a run before it makes anything, found by the code that stops the run.
func (p *examination) lookAtStart(ctx context.Context, add func(Finding)) {
	base, err := p.Base(ctx)
	if err != nil {
		add(findingOf("base", err))
		return
	}
	if p.MayMergeInto(ctx, base, forge.Request{}) != nil { // lookAtRequests reports it
		return
	}
	obstacles := p.obstacles(ctx, base, add)
	for _, o := range obstacles {
		says := o.Error.Message
		if !strings.HasPrefix(says, o.Error.Title) {
			says = o.Error.Title + ": " + says
		}
		add(Finding{o.What, VerdictMissing, says, strings.Join(commandline.Lines(&o.Error), "\n")})
	}
	if len(obstacles) == 0 {
		says := "into " + base
		if user, err := p.Repo.User(ctx); err == nil {
			says += fmt.Sprintf(" as %s <%s>", user.Committer.Name, user.Committer.Email)
		}
		if p.Pushes(ctx) && p.Hosted == nil { // lookAtForge says where else
			says += ", and pushed to " + wire.Remote
		}
		add(Finding{What: "merge", Verdict: VerdictOK, Says: says})
	}
	if remote, err := p.Repo.Promisor(ctx); err == nil && remote != "" {
		add(Finding{"clone", VerdictWarning, "this is a partial clone: a run first fetches from " + remote + " what it lacks, and stops for free if it can't",
			"fetch all of it now: git fetch --refetch --no-filter"})
	}
	if err := p.Store.Watched(); err != nil {
		add(Finding{"files", VerdictWarning, "the kernel has no inotify instance or watch left for you, so files are polled: " + err.Error(),
			"sudo sysctl fs.inotify.max_user_instances=512 fs.inotify.max_user_watches=524288"})
	}
}

// obstacles are what stops every run into base. Doctor only shows things, so it tries the remote and the signature only if the
// repository names no program that git would start for them.
func (p *examination) obstacles(ctx context.Context, base string, add func(Finding)) []perform.Obstacle {
	named, err := p.Repo.NamesPrograms(ctx)
	if err == nil && len(named) > 0 {
		add(Finding{"merge", VerdictWarning, "no push, signature or filter is tried here: the repository's own git configuration names programs for it (" +
			redact.Line(strings.Join(named, ", "), 200) + ")", "nothing: a run tries them before anything is paid for"})
	}
	quiet := err != nil || len(named) > 0
	ctx, cancel := context.WithTimeout(ctx, remoteWait)
	defer cancel()
	shows := p.Obeys
	p.Obeys = !quiet
	defer func() { p.Obeys = shows }()
	r := perform.New(perform.Config{Repo: p.Repo, Environments: p.Driver(), Forge: p.Forge, Commits: p.Commits(), Redact: p.Redact, Logger: p.Log})
	return r.Obstacles(ctx, base, quiet)
}
