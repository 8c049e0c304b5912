package healing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/config"
	"signalbox/internal/git"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/problem"
	"signalbox/internal/store"
	"signalbox/internal/wire"
)

// Standing is where the self-healing loop stands.
type Standing struct {
	// State is the document, or what "health restore" would make of a broken one; Begun is false if there is none.
	State health.State
	Begun bool
	// Holder is who makes a pass at this moment, nil if nobody does.
	Holder *store.LockRecord
	// Broken says how the document cannot be read.
	Broken Restoration
}

// CutOff: a pass is in hand, and nobody makes it.
func (s *Standing) CutOff() bool { return s.State.Loop.Pass != nil && s.Holder == nil }

// Gate decides. While a pass is running no other begins.
func (s *Standing) Gate(every time.Duration, now time.Time) health.Gate {
	gate := s.State.Gate(every, now)
	if s.Holder != nil {
		return gate.Beside(app.Holder(*s.Holder))
	}
	return gate
}

// Load reads where the loop of o's project stands.
func Load(ctx context.Context, o *app.Opener) (at Standing, err error) {
	s, err := o.OpenStoreToRead(ctx)
	if err != nil {
		return at, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if at.Holder, err = s.Healing(ctx); err != nil {
		return at, wire.Explained(err)
	}
	h, restoration, err := s.Health().LoadOrBackup(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		at.State = health.New(o.Now())
		return at, nil
	}
	at.State, at.Begun, at.Broken = h, true, Restoration{Broken: restoration.Broken, Backup: restoration.Backup}
	if err == nil && at.CutOff() { // or begun since we asked
		at.Holder, err = s.Healing(ctx)
	}
	return at, wire.Explained(err)
}

// Past is the log of passes.
func Past(ctx context.Context, o *app.Opener) (heal.History, error) {
	if err := wantsRepository(o); err != nil {
		return heal.History{}, err
	}
	s, err := o.OpenStoreToRead(ctx)
	if err != nil {
		return heal.History{}, err
	}
	past, err := heal.Past(ctx, s)
	return past, errors.Join(wire.Explained(err), s.Close())
}

// Status is all that is known about the loop without a pass.
type Status struct {
	Standing
	Gate health.Gate
	Past heal.History
	// Unsettled is why the configuration could not be asked.
	Unsettled error
}

func StatusOf(ctx context.Context, o *app.Opener) (s Status, err error) {
	if s.Past, err = Past(ctx, o); err != nil {
		return s, err
	}
	if s.Standing, err = Load(ctx, o); err != nil {
		return s, err
	}
	configured, known, unsettled := settings(o)
	s.Unsettled = unsettled
	s.Gate = s.Standing.Gate(configured.Every, o.Now())
	if known && len(configured.Checks) == 0 && s.Gate.Decision == health.GateGo {
		s.Gate = health.Gate{Decision: health.GateStop, Reason: heal.ErrNoChecks.Error() + "; " + sayWhatToLookAt}
	}
	return s, nil
}

// Every is how long the configuration leaves a healthy project alone; zero where it does not say. A project that has nothing to look
// at is refused: else whoever asks whether a pass is due begins one for ever.
func Every(o *app.Opener) (time.Duration, error) {
	if err := wantsRepository(o); err != nil {
		return 0, err
	}
	configured, known, err := settings(o)
	if err == nil && known && len(configured.Checks) == 0 {
		err = withoutChecks()
	}
	return configured.Every, err
}

// settings are the configuration's; not known where there is none. What a file that does not hold says may not be what
// was meant, so nothing is decided by it.
func settings(o *app.Opener) (settings config.Health, known bool, err error) {
	root, _, err := wire.DocumentsRoot(o.Dir)
	if err != nil {
		return settings, false, err
	}
	all, found, err := config.Load(filepath.Join(root, config.Name), o.Env)
	if err != nil {
		return settings, false, &problem.Error{Err: err, Hint: wire.FixConfiguration}
	}
	return all.Health, found, nil
}

// wantsRepository refuses a folder in which no pass could ever be made.
func wantsRepository(o *app.Opener) error {
	_, gitDir, err := wire.DocumentsRoot(o.Dir)
	if err == nil && gitDir == "" {
		err = fmt.Errorf("open repository %s: %w", o.Dir, git.ErrNotRepository)
	}
	return wire.Explained(err)
}

func withoutChecks() error { return &problem.Error{Err: heal.ErrNoChecks, Hint: sayWhatToLookAt} }

const sayWhatToLookAt = "say what to look at: health.checks in " + config.Name + " (docs/healing.md)"
