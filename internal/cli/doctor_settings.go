package cli

import "context"

func (p *project) lookAtBroughtSettings(ctx context.Context, add func(finding)) {
	if !p.UsesVendors() {
		return
	}
	names, err := p.Repo.WorkFiles(ctx)
	if err != nil {
		add(finding{"agents", verdictWarning, err.Error(), ""})
		return
	}
	for _, note := range p.BroughtSettings(names) {
		add(finding{"agents", verdictWarning, note, ""})
	}
}
