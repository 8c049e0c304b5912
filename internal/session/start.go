package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"signalbox/internal/flock"
	"signalbox/internal/process"
	"signalbox/internal/session/terminal"
	"signalbox/internal/store"
)

// startLimit is how long a host may take to start. It also asks the agent's program for its version, which has 30 s to answer.
const startLimit = time.Minute

// Start starts a session, which outlives this process, and returns when its agent runs, or why it
// doesn't. It replaces an ended session of that name. ErrRunning: one of that name is running.
func (s *Sessions) Start(ctx context.Context, c Config) (_ Info, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("start session %s: %w", c.name(), err)
		}
	}()
	if err := c.validate(); err != nil {
		return Info{}, err
	}
	dir, err := s.makeDir(c.name())
	if err != nil {
		return Info{}, err
	}
	if err := s.mayStart(ctx, dir, c.name()); err != nil {
		return Info{}, err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return Info{}, fmt.Errorf("open folder of session: %w", err)
	}
	defer func() { _ = folder.Close() }()
	socket := "start-" + rand.Text() + ".sock"
	l, err := new(net.ListenConfig).Listen(ctx, "unix", inFolder(folder, socket))
	if err != nil {
		return Info{}, fmt.Errorf("listen for host: %w", err)
	}
	defer func() { _ = l.Close() }()
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	context.AfterFunc(ctx, func() { _ = l.Close() })
	if err := s.launch(ctx, c, dir, socket, func() { _ = l.Close() }); err != nil {
		return Info{}, err
	}
	conn, err := l.Accept()
	if err != nil {
		return Info{}, fmt.Errorf("wait for its host, which ended or doesn't answer (see %s): %w", filepath.Join(dir, logFile), err)
	}
	defer func() { _ = conn.Close() }()
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	if err := checkPeer(conn); err != nil {
		return Info{}, err
	}
	if err := (&frames{to: conn}).sendJSON(frameOrder, order{Root: s.Root, AllowNetworkFS: s.AllowNetworkFS, Config: c, Environ: process.Unmarked(os.Environ())}); err != nil {
		return Info{}, err
	}
	info, err := readInfo(conn)
	if err != nil {
		return Info{}, err
	}
	if info.EndedAt != nil && info.ExitCode == nil && info.Outcome != nil {
		return Info{}, errors.New(info.Outcome.Message) // it never ran
	}
	return info, nil
}

// mayStart refuses early what the host would refuse. A session whose agent has ended is about to end too.
func (s *Sessions) mayStart(ctx context.Context, dir, name string) error {
	running, err := held(filepath.Join(dir, lockFile))
	if err != nil || !running {
		return err
	}
	info, err := store.Session[Info](s.Store, name).Load(ctx)
	if err != nil || info.EndedAt != nil {
		return nil
	}
	if o := info.Outcome; o != nil && (o.Source == Ended || o.Source == Stopped || o.Source == Gone) {
		return nil
	}
	return ErrRunning
}

func (s *Sessions) makeDir(name string) (string, error) {
	rel, err := store.SessionDir(name)
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return "", fmt.Errorf("open project root: %w", err)
	}
	defer func() { _ = root.Close() }()
	if err := root.MkdirAll(filepath.FromSlash(rel), privateMode); err != nil {
		return "", fmt.Errorf("make folder of session: %w", err)
	}
	return filepath.Join(s.Root, filepath.FromSlash(rel)), nil
}

// launch starts the host. It calls ended when the host ends, which may be before the host asked for its order.
func (s *Sessions) launch(ctx context.Context, c Config, dir, socket string, ended func()) error {
	program, err := s.Program, error(nil)
	if program == "" {
		program, err = os.Executable()
	}
	if err != nil {
		return fmt.Errorf("find host of session: %w", err)
	}
	if c.Mode == Tmux {
		// Start the host as the program of a window. tmux makes its path the zeroth argument, so
		// start it through a link of the right name.
		link := filepath.Join(dir, HostName)
		if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("link host of session: %w", err)
		}
		if err := os.Symlink(program, link); err != nil {
			return fmt.Errorf("link host of session: %w", err)
		}
		size := c.size()
		args := append(tmuxServer(c.TmuxSocket), "new-session", "-d", "-s", c.name(), "-c", dir,
			"-x", strconv.Itoa(int(size.Columns)), "-y", strconv.Itoa(int(size.Rows)), "--", link, dir, socket)
		command := exec.CommandContext(ctx, args[0], args[1:]...)
		command.Env = process.Unmarked(os.Environ())
		if output, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("open window of tmux: %w: %s", err, strings.TrimSpace(string(output)))
		}
		return nil
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("start host of session: %w", err)
	}
	defer func() { _ = null.Close() }()
	host, err := os.StartProcess(program, []string{HostName, dir, socket}, &os.ProcAttr{
		Dir: dir, Env: process.Unmarked(os.Environ()), Files: []*os.File{null, null, null}, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		return fmt.Errorf("start host of session: %w", err)
	}
	go func() {
		_, _ = host.Wait() // only reaps it; the outcome is in its document
		ended()
	}()
	return nil
}

// reconcile records the end of a session whose host was killed, and ends its remaining processes.
func (s *Sessions) reconcile(ctx context.Context, dir, name string) error {
	lock, err := takeLock(ctx, filepath.Join(dir, lockFile))
	if errors.Is(err, ErrRunning) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = flock.Release(lock) }()
	doc := store.Session[Info](s.Store, name)
	info, err := doc.Load(ctx)
	if err != nil || info.EndedAt != nil {
		return err
	}
	if _, err := process.Sweep(ctx, info.tag()); err != nil {
		return err
	}
	now := s.Clock().UTC()
	if info.Outcome == nil {
		info.Outcome = &Outcome{Kind: terminal.Error, Message: Unexpected, Source: Gone, At: now}
	}
	if s.Publish != nil {
		if err := s.Publish(ctx, s.Store, info); err != nil {
			return err
		}
	}
	return doc.Update(ctx, func(i *Info) error {
		i.EndedAt, i.Outcome, i.Question = &now, info.Outcome, nil
		return nil
	})
}
