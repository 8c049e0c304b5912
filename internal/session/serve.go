package session

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"signalbox/internal/process"
)

const (
	// clientsLimit is the most clients at once.
	clientsLimit = 256
	// requestWait is how long a client may take to send its request, and farewell how long the host
	// waits at the end for a client that doesn't read.
	requestWait, farewell = 5 * time.Second, time.Second
)

// serve opens the sockets, for clients and for the agent's reports.
func (h *host) serve(ctx context.Context) (stop func(), err error) {
	if err := OwnFolder(reportFolder); err != nil {
		return nil, fmt.Errorf("make folder for reports: %w", err)
	}
	clients, err := listen(ctx, hostSocket)
	if err != nil {
		return nil, err
	}
	reports, err := listen(ctx, filepath.Join(reportFolder, reportSocket))
	if err != nil {
		return nil, errors.Join(err, clients.Close())
	}
	// A container's user may differ from ours; the folder above keeps other users out.
	err = errors.Join(os.Chmod(hostSocket, privateFile), os.Chmod(reportFolder, 0o755), os.Chmod(filepath.Join(reportFolder, reportSocket), 0o666))
	if err != nil {
		return nil, errors.Join(err, clients.Close(), reports.Close())
	}
	go h.accept(clients, func(conn net.Conn) { h.attend(ctx, conn) })
	go h.accept(reports, func(conn net.Conn) { h.takeReport(ctx, conn) })
	return func() {
		_ = clients.Close()
		_ = reports.Close()
		h.clients.Wait()
	}, nil
}

// OwnFolder makes a folder to show to agents, unless it exists. It refuses anything else at that path: a link, above all, would
// show them another folder.
func OwnFolder(path string) error {
	err := os.Mkdir(path, privateMode)
	if !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder; remove it", path)
	}
	return err
}

// listen listens on a socket in the working directory, and replaces one that a killed host left.
func listen(ctx context.Context, path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("replace socket: %w", err)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}

func (h *host) accept(l net.Listener, serve func(net.Conn)) {
	places := make(chan struct{}, clientsLimit)
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		select {
		case places <- struct{}{}:
		default:
			_ = conn.Close()
			continue
		}
		h.clients.Go(func() {
			serve(conn)
			_ = conn.Close()
			<-places
		})
	}
}

// attend serves one client's request.
func (h *host) attend(ctx context.Context, conn net.Conn) {
	if err := errors.Join(checkPeer(conn), conn.SetDeadline(h.clock().Add(requestWait))); err != nil {
		h.log.Warn("refused a client", "error", err)
		return
	}
	kind, payload, err := readFrame(conn, frameLimit)
	var wanted request
	if err == nil && kind == frameRequest {
		err = json.Unmarshal(payload, &wanted)
	}
	if err != nil {
		return
	}
	_ = conn.SetDeadline(time.Time{})
	out := &frames{to: conn}
	switch wanted.Op {
	case opAttach:
		if h.order.Config.Mode == Headless {
			_ = out.sendJSON(frameProblem, problemOf(ErrNoTerminal))
			return
		}
		h.passOn(conn, out, &h.raw, h.seat(wanted.Size))
	case opWatch:
		h.passOn(conn, out, &h.clean, h.clean.join())
	case opNudge:
		h.reply(out, h.nudge(ctx, wanted.Text))
	case opAnswer:
		h.reply(out, h.answered(wanted.Answer))
	case opStop:
		h.end(Stopped)
		<-h.ended
		h.reply(out, nil)
	}
}

func (h *host) reply(out *frames, err error) {
	if err != nil {
		_ = out.sendJSON(frameProblem, problemOf(err))
		return
	}
	h.mu.Lock()
	info := h.info
	h.mu.Unlock()
	_ = out.sendJSON(frameInfo, info)
}

// redrawPause is how long the terminal is a row smaller, so that its program notices.
const redrawPause = 100 * time.Millisecond

// seat adds a reader at the terminal. It makes a program that draws redraw its whole screen, as programs do when
// the size changes: that brings what a replay lacks, such as colours.
func (h *host) seat(size process.TerminalSize) *reader {
	h.detecting.Lock()
	before := h.size
	h.detecting.Unlock()
	h.setSize(size)
	r := h.raw.join()
	h.detecting.Lock()
	defer h.detecting.Unlock()
	if smaller := h.size; h.detector.Drawn() && smaller == before && smaller.Rows > 1 {
		smaller.Rows--
		h.passSize(smaller)
		time.AfterFunc(redrawPause, func() {
			h.detecting.Lock()
			size := h.size
			h.detecting.Unlock()
			h.passSize(size)
		})
	}
	return r
}

// passOn passes on what is printed until the session ends or the client leaves.
func (h *host) passOn(conn net.Conn, out *frames, from *audience, r *reader) {
	defer from.leave(r)
	left := make(chan struct{})
	go func() {
		defer close(left)
		// Take the client's input until it leaves.
		for {
			kind, payload, err := readFrame(conn, frameLimit)
			if err != nil {
				return
			}
			switch kind {
			case frameInput:
				_ = h.typeIn(payload) // an agent that doesn't read loses it, as in any terminal
			case frameSize:
				var size process.TerminalSize
				if json.Unmarshal(payload, &size) == nil {
					h.setSize(size)
				}
			}
		}
	}()
	h.reply(out, nil)
	var buffer []byte
	for {
		select {
		case <-left:
			return
		case <-h.ended:
			_ = conn.SetWriteDeadline(h.clock().Add(farewell))
		case <-r.arrived:
		}
		p := r.take(buffer)
		buffer = p.output
		err := pass(out, p)
		if err != nil { // the client left, or reads nothing; its earlier input counts
			_ = conn.SetReadDeadline(h.clock().Add(farewell))
			<-left
		}
		if err != nil || p.closed {
			return
		}
	}
}

func pass(out *frames, p passing) (err error) {
	if p.lost > 0 {
		err = out.send(frameLost, strconv.AppendInt(nil, p.lost, 10))
	}
	switch {
	case len(p.output) == 0 || err != nil:
	case p.came.IsZero():
		err = out.send(framePrinted, p.output)
	default:
		err = out.send(frameRecord, binary.BigEndian.AppendUint64(nil, uint64(p.came.UnixNano())), p.output)
	}
	if p.state != nil && err == nil {
		err = out.sendJSON(frameInfo, p.state)
	}
	return err
}

// setSize sets the size of the terminal that attached or changed last.
func (h *host) setSize(size process.TerminalSize) {
	if size.Rows == 0 || size.Columns == 0 {
		return
	}
	h.detecting.Lock()
	h.size = size
	h.detector.Resize(int(size.Rows), int(size.Columns))
	h.detecting.Unlock()
	h.raw.resize(int(size.Rows), int(size.Columns))
	h.passSize(size)
}

// passSize passes the size on to the terminal.
func (h *host) passSize(size process.TerminalSize) {
	for {
		select {
		case h.resize <- size:
			return
		case <-h.resize: // one that the terminal has not taken
		case <-h.ended:
			return
		}
	}
}
