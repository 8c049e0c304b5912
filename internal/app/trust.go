package app

import (
	"context"
	"slices"

	"signalbox/internal/agreement"
	"signalbox/internal/config"
	"signalbox/internal/wire"
)

// TrustReview is the list of settings that reach this machine, and whether they count.
type TrustReview struct {
	Project  string             `json:"project"`
	Trusted  bool               `json:"trusted"`
	Standing wire.TrustStanding `json:"standing"`
	Settings []TrustedSetting   `json:"settings"`
	// Files are the files that .worktreeinclude matches now.
	Files []string `json:"files"`
}

// TrustedSetting is one setting that reaches this machine.
type TrustedSetting struct {
	config.Reach
	// New: the user's last agreement didn't include it.
	New bool `json:"new"`
}

// ReviewTrust returns the list as it is now. It runs nothing that the project names.
func (p *App) ReviewTrust(ctx context.Context) (TrustReview, error) {
	files, err := p.IncludedFiles(ctx)
	if err != nil {
		return TrustReview{}, err
	}
	withheld := p.Trust.Standing == wire.TrustWithheld
	review := TrustReview{Project: p.Root, Trusted: !withheld, Standing: p.Trust.Standing, Settings: []TrustedSetting{}, Files: append([]string{}, files...)}
	for _, r := range p.Trust.List {
		review.Settings = append(review.Settings, TrustedSetting{r, withheld && !slices.Contains(p.Trust.Before, wire.TrustItems([]config.Reach{r})[0])})
	}
	return review, nil
}

// RevokeTrust removes the user's agreements in this project, and returns how many there were.
func (p *App) RevokeTrust() (int, error) {
	book, err := agreement.Open(p.Root, p.Env)
	if err != nil {
		return 0, err
	}
	return book.Withdraw(agreement.Configuration)
}
