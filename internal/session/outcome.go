package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/session/terminal"
)

const (
	// settleTime is how long a line must stay on the screen before it counts.
	settleTime = time.Second
	// messageLimit is in characters; notesLimit is how many notes are kept.
	messageLimit, notesLimit = 2000, 50
	// refusalsLimit is how many refused reports are noted: the agent can send any number.
	refusalsLimit = 20
)

// keep takes printed output, without secrets: watchers see what is recorded. The lines before a program
// begins to draw are a part of their own.
func (h *host) keep(p []byte) (int, error) {
	n := 0
	if h.standing == nil && bytes.ContainsRune(p, '\x1b') {
		probe := terminal.NewScreen(terminal.DefaultRows, 0)
		for line := range bytes.Lines(p) {
			if probe.Write(line); probe.Drawn {
				break
			}
			n += len(line)
		}
		if !probe.Drawn {
			n = 0
		}
	}
	if n > 0 {
		h.keepPart(p[:n])
	}
	h.keepPart(p[n:])
	return len(p), nil
}

func (h *host) keepPart(p []byte) {
	if h.standing == nil && h.record != nil {
		h.undrawn = h.record.printed
	}
	_, _ = h.recording.Write(p)
	h.detecting.Lock()
	defer h.detecting.Unlock()
	_, _ = h.detector.Write(p)
	if h.order.Config.Mode == Headless || !h.detector.Drawn() {
		_, _ = h.telling.Write(p)
		return
	}
	h.drawing()
	h.tellLines(nil)
}

func (h *host) recordOutput(p []byte) (int, error) {
	if h.record != nil {
		if _, err := h.record.Write(p); err != nil {
			h.log.Error("record output", "error", err)
			h.record = nil
		}
	}
	return len(p), nil
}

func (h *host) settleLater() {
	h.detecting.Lock()
	defer h.detecting.Unlock()
	if !h.settling {
		h.settling = true
		time.AfterFunc(settleTime, h.settle)
	}
}

func (h *host) settle() {
	h.detecting.Lock()
	h.settling = false
	more := h.detector.Settle()
	more = h.look() || more
	h.detecting.Unlock()
	if more {
		h.settleLater()
	}
}

// hear takes a word of the agent. The first final one is the outcome, and is durable before any reader
// gets it.
func (h *host) hear(ctx context.Context, word terminal.Word, source Source) {
	message := redact.Line(h.redactor.String(redact.Clean(word.Message)), messageLimit)
	if word.Kind == terminal.Error && message == "" {
		message = noReason
	}
	err := h.save(context.WithoutCancel(ctx), func(info *Info) {
		switch {
		case word.Kind == terminal.Progress:
			info.Progress = message
		case info.Outcome == nil:
			info.Outcome = &Outcome{Kind: word.Kind, Message: message, Source: source, At: h.clock().UTC()}
		default:
			info.note(fmt.Sprintf("later, by %s: %s %s", source, word.Kind, message))
		}
	})
	if err != nil {
		h.log.Error("save what the agent said", "error", err)
	}
}

// noReason is the message if the agent only said that it failed.
const noReason = "The agent gave no reason"

func (i *Info) note(text string) {
	if len(i.Notes) < notesLimit {
		i.Notes = append(i.Notes, redact.Line(text, messageLimit))
	}
}

// save changes the session's Info, durably, publishes its outcome and tells the readers.
func (h *host) save(ctx context.Context, change func(*Info)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(&h.info)
	err := h.doc.Update(ctx, func(info *Info) error {
		*info = h.info
		return nil
	})
	if h.info.Outcome != h.published {
		h.published = h.info.Outcome
		err = errors.Join(err, h.publish(ctx, h.store, h.info))
	}
	info := h.info
	h.raw.tell(&info)
	h.clean.tell(&info)
	return err
}

// finish records the session's outcome, once nothing of the agent's tree is left.
func (h *host) finish(ctx context.Context, result process.Result, failure error) {
	h.input.Close()
	if err := h.redacting.Close(); err != nil {
		h.log.Error("pass on output", "error", err)
	}
	h.detecting.Lock()
	h.settling = true // no more settling
	h.detector.Close()
	h.look()
	h.look()
	_ = h.telling.Close()
	h.detecting.Unlock()
	_ = h.recording.Close()
	for _, kept := range []*record{h.record, h.text} {
		if err := kept.Close(); err != nil {
			h.log.Error("close record", "error", err)
		}
	}
	// In two steps: if the host dies in between, reconcile finds a session that has not ended and does
	// the rest.
	errOutcome := h.save(ctx, func(info *Info) {
		if info.Outcome == nil {
			info.Outcome = &Outcome{Kind: terminal.Error, Message: redact.Line(h.redactor.String(h.verdict(result, failure)), messageLimit), Source: Ended, At: h.clock().UTC()}
			if h.ending != "" {
				info.Outcome.Source = h.ending
			}
		}
	})
	err := h.save(ctx, func(info *Info) {
		now := h.clock().UTC()
		info.EndedAt = &now
		if !result.Started.IsZero() {
			info.ExitCode, info.Signal = &result.ExitCode, result.Signal
		}
		if h.ending != "" {
			failure = withoutCancel(failure)
		}
		if failure != nil {
			info.note(h.redactor.String(failure.Error()))
		}
	})
	if err = errors.Join(errOutcome, err); err != nil {
		h.log.Error("save the end", "error", err)
	}
	close(h.ended)
	h.raw.tell(nil)
	h.clean.tell(nil)
}

// withoutCancel returns err without the cancellation by which we ended the agent.
func withoutCancel(err error) (other error) {
	joined, several := err.(interface{ Unwrap() []error }) // only errors that are joined at the top are taken apart
	if !several {
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	}
	for _, one := range joined.Unwrap() {
		other = errors.Join(other, withoutCancel(one))
	}
	return other
}

// verdict returns the message of a session without a final word.
func (h *host) verdict(result process.Result, failure error) string {
	switch {
	case h.ending == Stopped:
		return "Session was stopped"
	case h.ending == Gone:
		return Unexpected + ": its window is gone"
	case failure != nil:
		return Unexpected + ": " + failure.Error()
	case result.Ending != process.Exited:
		return Unexpected + " (" + string(result.Ending) + ")"
	case result.Signal != "":
		return Unexpected + " (" + result.Signal + ")"
	case result.ExitCode == 0:
		return Unexpected + " (exit code 0): its agent ended without saying whether the work is done"
	}
	return Unexpected + " (exit code " + strconv.Itoa(result.ExitCode) + ")"
}
