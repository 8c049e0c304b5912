package doctor

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"signalbox/internal/commandline"
	"signalbox/internal/wire"
)

// lookAtWayOut reports the proxy and the certificates that this machine's variables name.
func (p *examination) lookAtWayOut(add func(Finding)) {
	if _, err := p.Certificates(); err != nil {
		add(findingOf("certificates", err))
		return
	}
	if names := p.CertificateVariables(); len(names) > 0 {
		add(Finding{What: "certificates", Verdict: VerdictOK, Says: "further ones in " + strings.Join(names, ", ") + ", which commands see, too"})
	}
	shown := p.CertificateVariables()
	for _, name := range slices.Concat(wire.CertificateFiles, wire.CertificateFolders) {
		if p.Env(name) != "" && !slices.Contains(shown, name) {
			add(Finding{"certificates", VerdictWarning, name + " names something that commands don't see: want an absolute path to certificates only", "correct " + name + ", or unset it"})
		}
	}
	if err := p.CheckProxy(); err != nil {
		add(findingOf("proxy", err))
	} else if out, err := p.Proxy()(&url.URL{Scheme: "https", Host: "example.com"}); err == nil && out != nil {
		add(Finding{What: "proxy", Verdict: VerdictOK, Says: "requests to models and what commands reach go through " + wire.ShownURL(out.String()) + ", but for NO_PROXY"})
	}
}

// reaching adds to a finding the address of the agent's model, if the user named one, and whether it answers.
func (p *examination) reaching(ctx context.Context, w wire.Way, f Finding) Finding {
	if w.Place == "" {
		return f
	}
	f.Says += "; its model at " + wire.ShownURL(w.Url) + " (" + w.Place + ")"
	if strings.HasPrefix(w.Url, "http://") {
		f.Says += ", unencrypted"
	}
	if err := p.Reach(ctx, w); err != nil {
		f.Verdict, f.Says, f.Next = VerdictWarning, f.Says+": "+errors.Unwrap(err.Err).Error(), commandline.Line(err.Next)
		if !err.Passing {
			f.Verdict = VerdictMissing
		}
	}
	return f
}
