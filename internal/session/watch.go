package session

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"strconv"
	"time"

	"signalbox/internal/process"
	"signalbox/internal/session/terminal"
)

// Event is one message to a watcher: a line, a gap, or the session's new state.
type Event struct {
	// Line is one line of output, cleaned; or a part of one, if it is long or nothing came for a while. If the
	// program draws, it is a line that stayed on its screen.
	Line string
	// RecordedAt is when the line was recorded.
	RecordedAt time.Time
	// Lost is how many bytes were dropped here because the watcher was too slow.
	Lost int64
	// Info is set when the session has changed, and first of all.
	Info *Info
}

// Watch reports the most recent lines and then everything that happens. The channel is closed when the
// session has ended, after an Event with its end, or with ctx. A watcher that doesn't keep up loses lines
// and is told how much.
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
		var text terminal.LineReader
		printed := bufio.NewReader(conn)
		for at := (time.Time{}); ok; {
			if text.Pending() && x.quiet(conn, printed) {
				if line := text.Rest(); line != "" {
					ok = send(ctx, events, Event{Line: line, RecordedAt: at})
				}
				continue
			}
			kind, payload, err := readFrame(printed, frameLimit)
			if err != nil {
				break
			}
			switch kind {
			case frameRecord:
				var output []byte
				at, output = recorded(payload)
				ok = text.Split(output, func(line string) bool { return send(ctx, events, Event{Line: line, RecordedAt: at}) })
			case framePrinted: // from before this watch
				ok = text.Split(payload, func(line string) bool { return send(ctx, events, Event{Line: line}) })
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
		if rest := text.Rest(); ok && rest != "" {
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

// recorded returns the parts of a frameRecord.
func recorded(payload []byte) (at time.Time, output []byte) {
	if len(payload) < 8 {
		return at, nil
	}
	return time.Unix(0, int64(binary.BigEndian.Uint64(payload))), payload[8:]
}

func send(ctx context.Context, events chan<- Event, e Event) bool {
	select {
	case events <- e:
		return true
	case <-ctx.Done():
		return false
	}
}

// quietTime is how long nothing is printed before an unfinished line, perhaps a question, is passed on.
const quietTime = 300 * time.Millisecond

// quiet waits for more output, and reports whether none came.
func (x *Session) quiet(conn net.Conn, printed *bufio.Reader) bool {
	_ = conn.SetReadDeadline(x.of.Clock().Add(cmp.Or(x.of.Quiet, quietTime)))
	_, err := printed.Peek(1)
	_ = conn.SetReadDeadline(time.Time{})
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// Wait returns when the session has an outcome or has ended, and calls hear with its state until then. The outcome is
// published by then: the host saves it first, and may still be about to publish it.
func (x *Session) Wait(ctx context.Context, hear func(Info)) (Info, error) {
	for {
		info, err := x.Info(ctx)
		if err == nil && info.Outcome != nil && x.of.Publish != nil && process.Lives(info.HostPID, info.HostStart) {
			err = x.of.Publish(ctx, x.of.Store, info)
		}
		if err != nil || info.Outcome != nil {
			return info, err
		}
		hear(info)
		watching, cancel := context.WithCancel(ctx)
		events, err := x.Watch(watching)
		for err == nil {
			e, open := <-events
			if !open || e.Info != nil && e.Info.Outcome != nil {
				break
			}
			if e.Info != nil {
				hear(*e.Info)
			}
		}
		cancel()
		if err != nil || ctx.Err() != nil {
			return Info{}, errors.Join(err, ctx.Err())
		}
		select { // the host may have no place for another client
		case <-ctx.Done():
		case <-time.After(dialPause):
		}
	}
}
