package hosting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/forge/budget"
	"signalbox/internal/problem"
)

// What people order on the forge, and what changed there.

// Orders returns what was ordered on an issue or a pull request after a time.
func (f *Forge) Orders(ctx context.Context, on forge.Subject, after time.Time) ([]forge.Order, error) {
	b, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	orders, err := b.forge.Orders(ctx, on, f.config.Settings.Label, after)
	return orders, b.explained(err, readIssues)
}

// Changes lists what changed at a time or later.
func (f *Forge) Changes(ctx context.Context, since time.Time) ([]forge.Change, error) {
	b, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	server, can := b.server.(forge.Changing)
	if !can {
		return nil, &problem.Error{Err: fmt.Errorf("the driver %s can't tell what changed", b.server.Kind()), Hint: "docs/forges.md says what drivers can do"}
	}
	changes, err := server.Changes(ctx, since)
	return changes, b.explained(err, readIssues)
}

// MayOrder reports whether an account may write to the repository now.
func (f *Forge) MayOrder(ctx context.Context, account string) (bool, error) {
	b, err := f.open(ctx)
	if err != nil {
		return false, err
	}
	may, err := b.forge.MayOrder(ctx, account)
	return may, b.explained(err, readIssues)
}

// Acknowledge shows the author of an order that it was seen.
func (f *Forge) Acknowledge(ctx context.Context, order forge.Order) error {
	b, err := f.open(ctx)
	if err == nil {
		err = b.explained(b.forge.Acknowledge(ctx, order), writeIssues)
	}
	return err
}

// Tell writes a comment, once for each key. It has no secrets.
func (f *Forge) Tell(ctx context.Context, on forge.Subject, key, body string) error {
	b, err := f.open(ctx)
	if err == nil {
		err = b.explained(b.forge.Tell(ctx, on, key, f.config.Redact.String(body)), writeIssues)
	}
	return err
}

// Offered reports whether a comment of ours before an order shows the commit.
func (f *Forge) Offered(ctx context.Context, order forge.Order, commit string) (bool, error) {
	b, err := f.open(ctx)
	if err != nil {
		return false, err
	}
	shown, err := b.forge.Offered(ctx, order, commit)
	return shown, b.explained(err, readIssues)
}

// Webhook reads a webhook with the secret that the configuration names.
func (f *Forge) Webhook(ctx context.Context, header http.Header, body io.Reader) (forge.Wake, error) {
	b, err := f.open(ctx)
	if err != nil {
		return forge.Wake{}, err
	}
	server, can := b.server.(forge.Hooked)
	if !can {
		return forge.Wake{}, fmt.Errorf("the driver %s reads no webhooks", b.server.Kind())
	}
	wake, err := server.Webhook(header, body, f.secret())
	if err != nil || wake.Nothing() {
		return wake, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if wake.Commit != "" {
		f.told = f.config.Clock()
	} else {
		f.toldOf = f.config.Clock()
	}
	return wake, nil
}

// toldFor is how long one webhook about a check shows that the server sends them, and toldOfFor one about an issue or a pull request, which are rarer.
const (
	toldFor   = time.Hour
	toldOfFor = 24 * time.Hour
)

// toldOfChecks reports whether webhooks tell this process of checks. One that came shows it; that some are configured doesn't.
func (f *Forge) toldOfChecks() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.told.IsZero() && f.config.Clock().Sub(f.told) < toldFor
}

// toldOfPeople reports the same of what people do.
func (f *Forge) toldOfPeople() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.toldOf.IsZero() && f.config.Clock().Sub(f.toldOf) < toldOfFor
}

// Use is what all processes asked of the server with the credentials of this one.
func (f *Forge) Use() []budget.Use {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.built == nil {
		return nil
	}
	return f.built.calls.Use()
}

// AllUse is what all processes of this user asked of every server, as far as they share it. It asks none.
func (f *Forge) AllUse() ([]budget.Use, error) {
	folder := budget.Folder(f.config.Within("."), f.config.Env)
	if folder == "" {
		return nil, nil
	}
	return budget.All(folder, f.config.Clock)
}

// secret signs webhooks. It is removed from everything that is written.
func (f *Forge) secret() string {
	if f.config.Settings.Webhook == "" {
		return ""
	}
	secret := f.config.Env(f.config.Settings.Webhook)
	f.config.Redact.Add(map[string]string{f.config.Settings.Webhook: secret})
	return secret
}

// TakesWebhooks is an error that says what is missing before webhooks can be checked.
func (f *Forge) TakesWebhooks() error {
	switch variable := f.config.Settings.Webhook; {
	case variable == "":
		return &problem.Error{Err: errors.New("no secret for webhooks is configured"), Code: problem.Usage,
			Hint: "add webhook: NAME below forge in " + config.Name + ", and start Signalbox with the secret in that variable"}
	case f.secret() == "":
		return &problem.Error{Err: fmt.Errorf("%s is not set", variable), Hint: "start Signalbox with the webhook's secret in " + variable}
	}
	return nil
}
