package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"signalbox/internal/wire"
)

// lookAtForge reports whether the forge is reached, who we are there and what is missing. It returns false if nothing of a run's start needs to be
// tried, because it would fail for the same reason.
func (p *examination) lookAtForge(ctx context.Context, add func(Finding)) bool {
	if p.Hosted == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, remoteWait)
	defer cancel()
	if err := p.Hosted.Plain(ctx); err != nil {
		add(Finding{"forge", VerdictWarning, err.Error(), "use the server's https address in the remote " + wire.Remote + " or in forge.url"})
	}
	base, err := p.Base(ctx)
	if err != nil { // lookAtStart reports it
		return true
	}
	commit, err := p.Repo.Resolve(ctx, "refs/remotes/"+wire.Remote+"/"+base)
	if err != nil {
		commit = ""
	}
	s, err := p.Hosted.Examine(ctx, base, commit)
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("the server did not answer within %.0f s", remoteWait.Seconds())
		}
		f := findingOf("forge", err)
		if s.Page != "" {
			f.Says = s.Page + ": " + f.Says
		}
		add(f)
		return false
	}
	says := []string{s.Page + " as " + s.Account + p.shown()}
	if s.Budget != "" {
		says[0] += "; " + s.Budget
	}
	if len(s.Lacks) > 0 {
		says = append(says, "not there with this driver: "+strings.Join(s.Lacks, ", "))
	}
	if s.Note != "" {
		says = append(says, s.Note)
	}
	add(Finding{What: "forge", Verdict: VerdictOK, Says: strings.Join(says, "\n")})
	if s.Source != "" {
		add(Finding{What: "push", Verdict: VerdictOK, Says: "branches to " + s.Source})
	}
	for _, err := range s.Missing {
		f := findingOf("forge", err)
		if f.Next == "" {
			f.Next = "docs/forges.md has the least rights"
		}
		add(f)
	}
	switch {
	case s.Others && s.Way != "":
		add(Finding{What: "merge", Verdict: VerdictOK, Says: "into " + base + " by others: " + s.Why})
	case s.Way != "":
		add(Finding{What: "merge", Verdict: VerdictOK, Says: "into " + base + " by " + s.Way + ": " + s.Why})
	case s.Why != "":
		add(Finding{"merge", VerdictMissing, s.Why, "docs/forges.md has the ways to merge"})
	}
	return len(s.Missing) == 0 && s.Way != ""
}

// shown says with which credentials.
func (p *examination) shown() string {
	switch a := p.Hosted.Access(); {
	case a.Variable != "":
		return ", by the token in " + a.Variable
	case len(a.Program) > 0:
		return ", by the login of " + a.Program[0]
	}
	return ", as an App"
}
