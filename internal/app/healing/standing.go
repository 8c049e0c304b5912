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
	"signalbox/internal/wire/folder"
)

// Standing is the state of the self-healing loop, and who runs it.
type Standing struct {
	// State is the document, or what "health restore" would restore if it is broken; Begun is false if there is none.
	State health.State
	Begun bool
	// Holder is the process that makes a pass now, nil if none does.
	Holder *store.LockRecord
	// Broken says why the document can't be read.
	Broken Restoration
}

// CutOff reports whether a pass has begun and no process makes it.
func (s *Standing) CutOff() bool { return s.State.Loop.Pass != nil && s.Holder == nil }

// Gate decides whether a pass is due. No pass begins while another one is running.
func (s *Standing) Gate(every time.Duration, now time.Time) health.Gate {
	gate := s.State.Gate(every, now)
	if s.Holder != nil {
		return gate.Beside(app.Holder(*s.Holder))
	}
	return gate
}

// Load reads the state of the loop of o's project.
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
	if err == nil && at.CutOff() { // or begun since we looked
		at.Holder, err = s.Healing(ctx)
	}
	return at, wire.Explained(err)
}

// Past reads the history of passes.
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

// Status is all that is known about the loop without making a pass.
type Status struct {
	Standing
	Gate health.Gate
	Past heal.History
	// Unsettled is why the configuration can't be read.
	Unsettled error
}

// StatusOf reads the status of the loop of o's project.
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
		s.Gate = health.Gate{Decision: health.GateStop, Reason: heal.ErrNoChecks.Error() + "; " + sayWhatToCheck}
	}
	return s, nil
}

// Every is the configured interval between the passes of a healthy project, zero if it isn't configured. It refuses a project without
// checks, since for that a pass would always be due.
func Every(o *app.Opener) (time.Duration, error) {
	if err := wantsRepository(o); err != nil {
		return 0, err
	}
	configured, known, err := settings(o)
	if err == nil && known && len(configured.Checks) == 0 {
		err = errWithoutChecks
	}
	return configured.Every, err
}

// settings are those of the configuration; known is false if there is none. A broken configuration may not say what the user meant,
// so it is an error.
func settings(o *app.Opener) (settings config.Health, known bool, err error) {
	root, _, err := folder.Root(o.Dir)
	if err != nil {
		return settings, false, err
	}
	all, found, err := config.Load(filepath.Join(root, config.Name), o.Env)
	if err != nil {
		return settings, false, &problem.Error{Err: err, Hint: wire.FixConfiguration}
	}
	return all.Health, found, nil
}

// wantsRepository refuses a folder outside of git, in which no pass is possible.
func wantsRepository(o *app.Opener) error {
	_, gitDir, err := folder.Root(o.Dir)
	if err == nil && gitDir == "" {
		err = fmt.Errorf("open repository %s: %w", o.Dir, git.ErrNotRepository)
	}
	return wire.Explained(err)
}

var errWithoutChecks = &problem.Error{Err: heal.ErrNoChecks, Hint: sayWhatToCheck}

const sayWhatToCheck = "say what to check: health.checks in " + config.Name + " (docs/healing.md)"
