package intake

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/config"
	"signalbox/internal/problem"
)

// Of returns what the intake of a project is made of.
func Of(p *app.App) (Config, error) {
	if err := onServer(p); err != nil {
		return Config{}, err
	}
	return Config{Forge: p.Hosted, Store: p.Store, Now: p.Now, Logger: p.Log}, nil
}

// onServer refuses a project without a forge.
func onServer(p *app.App) error {
	switch {
	case p.ConfigError != nil:
		return p.ConfigError
	case p.Hosted == nil:
		return &problem.Error{Err: errors.New("requests are files here: no forge is configured"), Code: problem.Usage,
			Hint: `add "forge: {driver: github}" to ` + config.Name}
	}
	return nil
}

// Limits are what the forge still accepts, and what this command asked to learn that.
type Limits struct {
	Server  string   `json:"server"`
	Budgets []Budget `json:"budgets"`
	// Calls counts by kind. Unchanged were answered with "not modified"; Joined were not sent, because an equal call was under way.
	Calls     map[string]int `json:"calls"`
	Unchanged int            `json:"unchanged"`
	Joined    int            `json:"joined"`
}

// Budget is one of the server's limits.
type Budget struct {
	Name      string    `json:"name"`
	Limit     int       `json:"limit"`
	Remaining int       `json:"remaining"`
	Reset     time.Time `json:"reset"`
}

// LimitsOf asks the forge.
func LimitsOf(ctx context.Context, p *app.App) (Limits, error) {
	if err := onServer(p); err != nil {
		return Limits{}, err
	}
	limits := Limits{Budgets: []Budget{}, Calls: map[string]int{}}
	server, page, err := p.Hosted.Server(ctx)
	if err != nil {
		return limits, err
	}
	if _, err := server.Repository(ctx); err != nil {
		return limits, err
	}
	limits.Server = page
	use := p.Hosted.Use()
	if use == nil {
		return limits, nil
	}
	limits.Calls, limits.Unchanged, limits.Joined = use.Calls, use.Unchanged, use.Joined
	for name, b := range use.Budgets {
		limits.Budgets = append(limits.Budgets, Budget{name, b.Limit, b.Remaining, b.Reset})
	}
	slices.SortFunc(limits.Budgets, func(a, b Budget) int { return cmp.Compare(a.Name, b.Name) })
	return limits, nil
}
