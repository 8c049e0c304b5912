package session

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/redact"
)

// Event is one thing that a watcher is told: a line, a gap, or what is known of the session now.
type Event struct {
	// Line is one line of output, cleaned.
	Line string
	// Lost is how many bytes were dropped here because the watcher was too slow.
	Lost int64
	// Info is set when the session has changed, and first of all.
	Info *Info
}

// lineLimit bounds a line of an Event: what is longer comes in several.
const lineLimit = 4096

// Watch tells what happens from here on, after the last lines of what did. The channel is closed
// when the session has ended, or with ctx; its last Event is then the end. Nobody waits for who
// does not read: they are told what they lost.
func (x *Session) Watch(ctx context.Context) (<-chan Event, error) {
	events := make(chan Event)
	conn, info, err := x.request(ctx, request{Op: opWatch})
	if errors.Is(err, ErrNotRunning) {
		if info, err = x.Info(ctx); err != nil {
			return nil, err
		}
		go func() {
			defer close(events)
			send(ctx, events, Event{Info: &info})
		}()
		return events, nil
	}
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	go func() {
		defer close(events)
		defer stop()
		defer func() { _ = conn.Close() }()
		last := &info
		ok := send(ctx, events, Event{Info: last})
		var text lineReader
		for ok {
			kind, payload, err := readFrame(conn, frameLimit)
			if err != nil {
				break
			}
			switch kind {
			case framePrinted:
				ok = text.split(payload, func(line string) bool { return send(ctx, events, Event{Line: line}) })
			case frameLost:
				lost, _ := strconv.ParseInt(string(payload), 10, 64)
				ok = send(ctx, events, Event{Lost: lost})
			case frameInfo:
				if changed, err := infoOf(kind, payload); err == nil {
					last = &changed
					ok = send(ctx, events, Event{Info: last})
				}
			}
		}
		if rest := text.rest(); ok && rest != "" {
			ok = send(ctx, events, Event{Line: rest})
		}
		if ok && last.EndedAt == nil { // the host was killed
			if info, err := x.Info(ctx); err == nil {
				send(ctx, events, Event{Info: &info})
			}
		}
	}()
	return events, nil
}

func send(ctx context.Context, events chan<- Event, e Event) bool {
	select {
	case events <- e:
		return true
	case <-ctx.Done():
		return false
	}
}

// lineReader cuts output into lines.
type lineReader struct{ held []byte }

func (l *lineReader) split(p []byte, tell func(string) bool) bool {
	for _, b := range p {
		if b == '\n' || len(l.held) >= lineLimit {
			if !tell(l.rest()) {
				return false
			}
		}
		if b != '\n' {
			l.held = append(l.held, b)
		}
	}
	return true
}

func (l *lineReader) rest() string {
	line := redact.Clean(strings.TrimRight(string(l.held), "\r"))
	l.held = l.held[:0]
	return line
}

// Wait returns when the session has come to something: at its first last word, or its end.
func (x *Session) Wait(ctx context.Context) (Info, error) {
	for {
		info, err := x.Info(ctx)
		if err != nil || info.Outcome != nil {
			return info, err
		}
		watching, cancel := context.WithCancel(ctx)
		events, err := x.Watch(watching)
		for err == nil {
			e, open := <-events
			if !open || e.Info != nil && e.Info.Outcome != nil {
				break
			}
		}
		cancel()
		if err != nil || ctx.Err() != nil {
			return Info{}, errors.Join(err, ctx.Err())
		}
		select { // a host that has no place for us
		case <-ctx.Done():
		case <-time.After(dialPause):
		}
	}
}
