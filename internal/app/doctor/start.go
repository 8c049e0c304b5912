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

// remoteWait is how long doctor waits for a remote. A run has more patience.
const remoteWait = 20 * time.Second

// lookAtStart names what a run would stop at before it makes anything. The code that stops the run says it.
func (p *examination) lookAtStart(ctx context.Context, add func(Finding)) {
	base, err := p.Base(ctx)
	if err != nil {
		add(findingOf("base", err))
		return
	}
	if p.MayMergeInto(ctx, base, forge.Request{}) != nil { // which is said of the requests
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
		add(Finding{What: "merge", Verdict: VerdictOK, Says: p.mergesSo(ctx, base)})
	}
	p.lookAtClone(ctx, add)
	if err := p.Store.Watched(); err != nil {
		add(Finding{"files", VerdictWarning, "the kernel has no inotify instance or watch left for you, so files are polled: " + err.Error(),
			"sudo sysctl fs.inotify.max_user_instances=512 fs.inotify.max_user_watches=524288"})
	}
}

// obstacles are those of every run into base. The remote and the signature are tried only where no program is started for that which
// the repository itself names: doctor only shows.
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

// mergesSo says whose merges go where.
func (p *examination) mergesSo(ctx context.Context, base string) string {
	says := "into " + base
	if user, err := p.Repo.User(ctx); err == nil {
		says += fmt.Sprintf(" as %s <%s>", user.Committer.Name, user.Committer.Email)
	}
	if p.Pushes(ctx) {
		says += ", and pushed to " + wire.Remote
	}
	return says
}

func (p *examination) lookAtClone(ctx context.Context, add func(Finding)) {
	if remote, err := p.Repo.Promisor(ctx); err == nil && remote != "" {
		add(Finding{"clone", VerdictWarning, "this is a partial clone: a run first fetches from " + remote + " what it lacks, and stops for free where it cannot",
			"fetch all of it now: git fetch --refetch --no-filter"})
	}
}
