package doctor

import "context"

func (p *examination) lookAtBroughtSettings(ctx context.Context, add func(Finding)) {
	if !p.UsesVendors() {
		return
	}
	names, err := p.Repo.WorkFiles(ctx)
	if err != nil {
		add(Finding{"agents", VerdictWarning, err.Error(), ""})
		return
	}
	for _, note := range p.BroughtSettings(names) {
		add(Finding{"agents", VerdictWarning, note, ""})
	}
}
