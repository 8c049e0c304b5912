package hosting

import (
	"errors"
	"fmt"
	"time"

	"signalbox/internal/commandline"
	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/problem"
)

// right is what a call needs, in the words of each vendor.
type right struct{ github, gitea, gitlab string }

var (
	readIssues    = right{"Issues: read", "issue: read", "role Reporter, scope read_api"}
	writeIssues   = right{"Issues: read and write", "issue: read and write", "role Reporter, scope api"}
	writePulls    = right{"Pull requests: read and write", "repository: read and write", "role Developer, scope api"}
	readVerdicts  = right{"Checks and Commit statuses: read", "repository: read", "role Reporter, scope read_api"}
	rerunJobs     = right{"Actions: read and write", "repository: read and write", "role Developer, scope api"}
	writeContents = right{"Contents: read and write", "repository: read and write", "role Developer, or Maintainer for a protected branch, scope api"}
)

func (r right) on(driver string) string {
	switch driver {
	case config.ForgeGitea:
		return r.gitea
	case config.ForgeGitLab:
		return r.gitlab
	}
	return r.github
}

// explained adds what to type to what the server refused, and the right that was missing.
func (b *built) explained(err error, needs right) error {
	var failure *forge.Failure
	var known *problem.Error
	if err == nil || errors.As(err, &known) || !errors.As(err, &failure) {
		return err
	}
	p := &problem.Error{Err: err, Hint: "see what works and what is missing: signalbox doctor"}
	switch failure.Kind {
	case forge.Unauthorized:
		p.Hint = commandline.Line(b.credentials.Renew())
	case forge.Forbidden:
		p.Err = fmt.Errorf("%w (the right that it needs: %s)", err, needs.on(b.server.Kind()))
		p.Hint = "give the account or its token that right: docs/forges.md has the least ones"
	case forge.Limited:
		p.Hint = "the forge has had too many calls: try again later"
		if failure.RetryAfter > 0 {
			p.Hint = "the forge has had too many calls: try again after " + b.clock().Add(failure.RetryAfter).Format(time.TimeOnly)
		}
	case forge.Refused:
		if failure.Moved != "" {
			p.Hint = "if the repository was renamed or moved: git remote set-url origin " + failure.Moved + ".git; or correct forge.repository"
		}
	case forge.Unavailable:
		p.Hint = "check the network, the proxy and forge.url; then see whether the forge is reached: signalbox doctor"
	}
	return p
}
