package intake

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/forge/budget"
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

// Limits are what the forge still accepts, and what all processes of this user asked of it.
type Limits struct {
	// Server is the repository's page; empty for all servers.
	Server      string       `json:"server,omitempty"`
	Credentials []Credential `json:"credentials"`
}

// Credential is what one credential still may, and what it was used for.
type Credential struct {
	// Host is that of the API. Name is an App's, or "token" and the beginning of its digest.
	Host    string   `json:"host"`
	Name    string   `json:"name"`
	Budgets []Budget `json:"budgets"`
	// HeldUntil is the time before which calls are held back, because a limit is used up or the forge asked for that.
	HeldUntil *time.Time `json:"held_until,omitempty"`
	// Hour counts since the hour began, Day the last 24 hours.
	Hour budget.Count `json:"hour"`
	Day  budget.Count `json:"day"`
}

// Budget is one of the server's limits.
type Budget struct {
	Name string `json:"name"`
	budget.Limit
}

// AllLimitsOf asks no one: it tells what is known of all servers and credentials.
func AllLimitsOf(p *app.App) (Limits, error) {
	limits := Limits{Credentials: []Credential{}}
	if err := onServer(p); err != nil {
		return limits, err
	}
	all, err := p.Hosted.AllUse()
	for _, use := range all {
		limits.Credentials = append(limits.Credentials, credential(use))
	}
	return limits, err
}

// LimitsOf asks the forge, if it accepts calls now.
func LimitsOf(ctx context.Context, p *app.App) (Limits, error) {
	if err := onServer(p); err != nil {
		return Limits{}, err
	}
	limits := Limits{Credentials: []Credential{}}
	server, page, err := p.Hosted.Server(ctx)
	if err != nil {
		return limits, err
	}
	var limited *forge.Failure
	if _, err := server.Repository(ctx); err != nil && !(errors.As(err, &limited) && limited.Kind == forge.Limited) {
		return limits, err
	}
	limits.Server = page
	for _, use := range p.Hosted.Use() {
		limits.Credentials = append(limits.Credentials, credential(use))
	}
	return limits, nil
}

func credential(use budget.Use) Credential {
	c := Credential{Host: use.Host, Name: use.Name, Budgets: []Budget{}, Hour: use.Hour, Day: use.Day}
	if !use.HeldUntil.IsZero() {
		c.HeldUntil = &use.HeldUntil
	}
	for name, l := range use.Limits {
		c.Budgets = append(c.Budgets, Budget{name, l})
	}
	slices.SortFunc(c.Budgets, func(a, b Budget) int { return cmp.Compare(a.Name, b.Name) })
	return c
}
