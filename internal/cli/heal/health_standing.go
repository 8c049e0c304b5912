package heal

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/health"
	"signalbox/internal/store"
	"signalbox/internal/wire"
)

// standing is where the self-healing loop stands.
type standing struct {
	// state is the document, or what "health restore" would make of a broken one; begun is false if there is none.
	state health.State
	begun bool
	// holder is who makes a pass at this moment, nil if nobody does.
	holder *store.LockRecord
}

// cutOff: a pass is in hand, and nobody makes it.
func (s *standing) cutOff() bool { return s.state.Loop.Pass != nil && s.holder == nil }

// gate decides. While a pass is running no other begins.
func (s *standing) gate(every time.Duration, now time.Time) health.Gate {
	gate := s.state.Gate(every, now)
	if s.holder != nil {
		return gate.Beside(app.Holder(*s.holder))
	}
	return gate
}

func standingOf(ctx context.Context, a *command.Invocation) (standing, error) {
	s, err := a.Opener.OpenStoreToRead(ctx)
	if err != nil {
		return standing{}, err
	}
	defer func() { _ = s.Close() }()
	holder, err := s.Healing(ctx)
	if err != nil {
		return standing{}, wire.Explained(err)
	}
	h, restoration, err := s.Health().LoadOrBackup(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return standing{state: health.New(a.Opener.HealthTime()), holder: holder}, nil
	}
	tellRestored(a, store.Restoration{Broken: restoration.Broken, Backup: restoration.Backup}, "deciding by")
	at := standing{state: h, begun: true, holder: holder}
	if err == nil && at.cutOff() { // or begun since we asked
		at.holder, err = s.Healing(ctx)
	}
	return at, wire.Explained(err)
}
