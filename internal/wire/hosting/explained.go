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

// right is what a call needs, in the words of GitHub and of Gitea.
type right struct{ github, gitea string }

var (
	readIssues    = right{"Issues: read", "issue: read"}
	writeIssues   = right{"Issues: read and write", "issue: read and write"}
	writePulls    = right{"Pull requests: read and write", "repository: read and write"}
	readVerdicts  = right{"Checks and Commit statuses: read", "repository: read"}
	writeContents = right{"Contents: read and write", "repository: read and write"}
)

func (r right) on(driver string) string {
	if driver == config.ForgeGitea {
		return r.gitea
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
	case forge.Unavailable:
		p.Hint = "check the network, the proxy and forge.url; then see whether the forge is reached: signalbox doctor"
	}
	return p
}
