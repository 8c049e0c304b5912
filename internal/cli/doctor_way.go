package cli

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"signalbox/internal/commandline"
	"signalbox/internal/problem"
	"signalbox/internal/wire"
)

// lookAtWayOut says which proxy and which certificates this machine's variables name.
func (p *project) lookAtWayOut(add func(finding)) {
	if _, err := p.Certificates(); err != nil {
		add(findingOf("certificates", err))
		return
	}
	if names := p.CertificateVariables(); len(names) > 0 {
		add(finding{What: "certificates", Verdict: verdictOK, Says: "further ones in " + strings.Join(names, ", ") + ", which commands see, too"})
	}
	shown := p.CertificateVariables()
	for _, name := range slices.Concat(wire.CertificateFiles, wire.CertificateFolders) {
		if p.Env(name) != "" && !slices.Contains(shown, name) {
			add(finding{"certificates", verdictWarning, name + " names what commands are not shown: want an absolute path of certificates alone", "correct " + name + ", or unset it"})
		}
	}
	out, err := p.Proxy()(&url.URL{Scheme: "https", Host: "example.com"})
	switch {
	case err != nil:
		add(finding{"proxy", verdictMissing, "HTTPS_PROXY or ALL_PROXY is no address of a proxy that is known", wire.WantProxy})
	case out != nil:
		add(finding{What: "proxy", Verdict: verdictOK, Says: "requests to models and what commands reach go through " + wire.ShownURL(out.String()) + ", but for NO_PROXY"})
	}
}

// findingOf is an error with what to type about it.
func findingOf(what string, err error) finding {
	f := finding{What: what, Verdict: verdictMissing, Says: err.Error()}
	var known *problem.Error
	if errors.As(err, &known) {
		f.Next = known.Hint
	}
	return f
}

// reaching adds the address of the agent's model, if one is configured, and whether it answers.
func (p *project) reaching(ctx context.Context, w wire.Way, f finding) finding {
	if w.Place() == "" {
		return f
	}
	f.Says += "; its model at " + wire.ShownURL(w.Url) + " (" + w.Place() + ")"
	if strings.HasPrefix(w.Url, "http://") {
		f.Says += ", unencrypted"
	}
	if err := p.Reach(ctx, w); err != nil {
		f.Verdict, f.Says, f.Next = verdictWarning, f.Says+": "+errors.Unwrap(err.Err).Error(), commandline.Line(err.Next)
		if !err.Passing {
			f.Verdict = verdictMissing
		}
	}
	return f
}
