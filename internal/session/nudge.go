package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"signalbox/internal/process"
	"signalbox/internal/redact"
)

const (
	// nudgePause is between the text and Enter: agents treat an Enter that comes with the text as part of it.
	nudgePause = 500 * time.Millisecond
	nudgeLimit = 16 << 10
	// inputLimit limits what was typed and not yet read by the agent.
	inputLimit = 64 << 10
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	enter      = "\r"
)

// nudge types a message.
func (h *host) nudge(ctx context.Context, text string) error {
	if err := checkNudge(text); err != nil {
		return err
	}
	h.nudging.Lock()
	defer h.nudging.Unlock()
	// The modes count the output that the record still holds back, too.
	h.raw.mu.Lock()
	brackets := h.raw.shown.modes.BracketsPaste()
	h.raw.mu.Unlock()
	parts := strings.Split(text, "\n")
	if brackets && len(parts) > 1 {
		parts = []string{pasteBegin + strings.Join(parts, enter) + pasteEnd}
	}
	for _, part := range parts {
		if err := h.typeIn([]byte(part)); err != nil {
			return err
		}
		select {
		case <-time.After(nudgePause):
		case <-ctx.Done():
			return ErrNotRunning
		}
		if err := h.typeIn([]byte(enter)); err != nil {
			return err
		}
	}
	return nil
}

// typeIn types all of p or nothing.
func (h *host) typeIn(p []byte) error {
	if h.order.Config.Mode == Headless {
		return ErrNoTerminal
	}
	h.detecting.Lock()
	h.detector.Typed(p)
	h.detecting.Unlock()
	switch err := h.input.Put(p); {
	case errors.Is(err, process.ErrQueueClosed):
		return ErrNotRunning
	case err != nil: // the agent hasn't read for a long time
		return ErrBusy
	}
	return nil
}

func checkNudge(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("%w: it is empty", ErrText)
	case len(text) > nudgeLimit:
		return fmt.Errorf("%w: it has %d bytes, and %d are the limit", ErrText, len(text), nudgeLimit)
	case redact.Clean(text) != text || strings.Contains(text, "\t"):
		return fmt.Errorf("%w: it has control or invisible characters", ErrText)
	}
	return nil
}
