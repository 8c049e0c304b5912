package session

import (
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
	// settleTime is how long a line has to stand on the screen before it is believed.
	settleTime = time.Second
	// messageLimit is characters, notesLimit how many of them are kept.
	messageLimit, notesLimit = 2000, 50
	// refusalsLimit is how many refused reports are told of: the agent can send any number.
	refusalsLimit = 20
)

// print takes what the agent prints. It returns no error: nothing that goes wrong with the
// record may end the agent.
func (h *host) print(p []byte) (int, error) {
	_, _ = h.raw.Write(p)
	if _, err := h.redacting.Write(p); err != nil {
		h.log.Error("pass on output", "error", err)
	}
	h.settleLater()
	return len(p), nil
}

// keep takes what the agent printed, without secrets: who watches is told of what is recorded.
func (h *host) keep(p []byte) (int, error) {
	n := 0
	if h.standing == nil {
		n = undrawn(p)
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
	h.tellLines(h.drawing().take())
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

// hear takes a word of the agent. The first last word is the outcome, and durable before anybody
// is told.
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

// noReason is the message of an agent that only said that it failed.
const noReason = "The agent gave no reason"

func (i *Info) note(text string) {
	if len(i.Notes) < notesLimit {
		i.Notes = append(i.Notes, redact.Line(text, messageLimit))
	}
}

// save changes what is known, durably, and tells everybody; first of all whoever is not here.
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
	h.raw.tell(h.info)
	h.clean.tell(h.info)
	return err
}

// finish tells what the session came to, once nothing of the agent's tree is left.
func (h *host) finish(ctx context.Context, result process.Result, failure error) {
	h.input.Close()
	if err := h.redacting.Close(); err != nil {
		h.log.Error("pass on output", "error", err)
	}
	h.detecting.Lock()
	h.settling = true // and never again
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
	// In two steps: a session that has not ended is looked after once its host is gone, so whatever
	// the first one was cut off from is done then.
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
	h.raw.close()
	h.clean.close()
}

// withoutCancel is what else went wrong than that we ended the agent.
func withoutCancel(err error) (other error) {
	joined, several := err.(interface{ Unwrap() []error }) // only what is joined right here is taken apart
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

// verdict is the message of a session without a last word.
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
	}
	return Unexpected + " (exit code " + strconv.Itoa(result.ExitCode) + ")"
}
