package execserver_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/environment/execserver"
	"signalbox/internal/process"
)

func frame(kind byte, payload string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(payload))), payload...)
}

// answering returns a client of an impostor that takes the order and then does what act does.
func answering(t *testing.T, act func(net.Conn)) *execserver.Client {
	t.Helper()
	dir := t.TempDir()
	l := listen(t, dir)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				var head [5]byte
				if _, err := io.ReadFull(conn, head[:]); err != nil {
					return
				}
				if _, err := io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(head[1:]))); err != nil {
					return
				}
				act(conn)
			}()
		}
	}()
	return &execserver.Client{Dir: dir, First: os.Getpid()}
}

func TestAnAnswerThatMakesNoSenseIsALostServer(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string][]byte{
		"nothing":               nil,
		"garbage":               []byte("HTTP/1.1 400 Bad Request\r\n\r\n"),
		"half a frame":          frame('o', "output")[:8],
		"a frame of 4 GiB":      {'o', 0xff, 0xff, 0xff, 0xff},
		"a frame to the server": frame('i', "x"),
		"an order":              frame('c', `{"args":["sh"]}`),
		"no JSON":               frame('r', "{"),
		"an unknown ending":     frame('r', `{"ending":"merged"}`),
		"an impossible code":    frame('r', `{"ending":"exited","exit_code":4096}`),
		"a signal with escapes": frame('r', `{"ending":"exited","signal":"SIG\u001b[2J"}`),
		"a negative duration":   frame('r', `{"ending":"exited","duration":-1}`),
		"unrequested input":     []byte(strings.Repeat(string(frame('m', "")), 100)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := answering(t, func(conn net.Conn) { _, _ = conn.Write(answer) })
			r, err := client.Exec(t.Context(), process.Command{Args: []string{"true"}})
			if !errors.Is(err, execserver.ErrLost) || r.OK() || r.Started.IsZero() {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
}

func TestAnErrorFromInsideIsShownWithoutItsControlCharacters(t *testing.T) {
	t.Parallel()
	said, err := json.Marshal(map[string]any{"message": "a\x1b[2Jb\n" + strings.Repeat("c", 60000)})
	if err != nil {
		t.Fatal(err)
	}
	client := answering(t, func(conn net.Conn) { _, _ = conn.Write(frame('f', string(said))) })
	_, err = client.Exec(t.Context(), process.Command{Args: []string{"true"}})
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\n") || len(err.Error()) > 3000 {
		t.Errorf("got %.100q", err)
	}
}

func TestAServerThatIgnoresTheOutputLimitIsCutOff(t *testing.T) {
	t.Parallel()
	client := answering(t, func(conn net.Conn) {
		flood := frame('o', strings.Repeat("x", 60000))
		for range 20000 {
			if _, err := conn.Write(flood); err != nil {
				return
			}
		}
		_, _ = conn.Write(frame('r', `{"ending":"exited"}`))
	})
	var got counter
	r, err := client.Exec(t.Context(), process.Command{Args: []string{"true"}, Stdout: &got, OutputLimit: 1000})
	if err != nil || !r.Truncated || got != 1000 {
		t.Errorf("got %d bytes, %+v, %v", got, r, err)
	}
}

type counter int64

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

func TestOnlyTheContainersFirstProcessIsBelieved(t *testing.T) {
	t.Parallel()
	client := served(t)
	client.First = 1
	if _, err := client.Exec(t.Context(), sh("true")); !errors.Is(err, execserver.ErrUnavailable) {
		t.Errorf("another process: %v", err)
	}
	linked := &execserver.Client{Dir: t.TempDir(), First: os.Getpid()}
	if err := os.Symlink(filepath.Join(client.Dir, execserver.Socket), filepath.Join(linked.Dir, execserver.Socket)); err != nil {
		t.Fatal(err)
	}
	if _, err := linked.Exec(t.Context(), sh("true")); !errors.Is(err, execserver.ErrUnavailable) {
		t.Errorf("a link: %v", err)
	}
	empty := &execserver.Client{Dir: t.TempDir(), First: os.Getpid()}
	if _, err := empty.Exec(t.Context(), sh("true")); !errors.Is(err, execserver.ErrUnavailable) {
		t.Errorf("no socket: %v", err)
	}
}

// connected returns a connection to client's server, as a process inside the container has one.
func connected(t *testing.T, client *execserver.Client) net.Conn {
	t.Helper()
	dir, err := os.Open(client.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	conn, err := net.Dial("unix", filepath.Join("/proc/self/fd", strconv.Itoa(int(dir.Fd())), execserver.Socket))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestACommandEndsWhenItsClientIsGone(t *testing.T) {
	t.Parallel()
	client := served(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	conn := connected(t, client)
	order, err := json.Marshal(map[string]any{"version": execserver.Version, "args": []string{"sh", "-c", `exec 9>"$1"; setsid sleep 1000 & sleep 1000`, "sh", pipe}, "dir": "/", "env": path})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(frame('c', string(order))); err != nil {
		t.Fatal(err)
	}
	held, err := os.Open(pipe) // waits for the command
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(2*time.Minute, func() { _ = held.Close() })
	if _, err := io.ReadAll(held); err != nil { // until the last process that has it ended
		t.Errorf("the command goes on: %v", err)
	}
}

func TestAServerLivesOnAfterAnythingThatIsSentToIt(t *testing.T) {
	t.Parallel()
	client := served(t)
	for name, said := range map[string][]byte{
		"garbage":        []byte("GET / HTTP/1.1\r\n\r\n"),
		"a long order":   {'c', 0xff, 0xff, 0xff, 0xff},
		"half an order":  frame('c', `{"args":["true"]}`)[:9],
		"no JSON":        frame('c', `{"args":`),
		"no program":     frame('c', `{"version":"1","args":[]}`),
		"output":         frame('o', "x"),
		"too much input": append(frame('c', `{"version":"1","args":["sleep","1000"],"env":["PATH=/usr/bin:/bin"],"input":true}`), strings.Repeat(string(frame('i', "x")), 100)...),
	} {
		conn := connected(t, client)
		if _, err := conn.Write(said); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := conn.(*net.UnixConn).CloseWrite(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, _ = io.Copy(io.Discard, conn) // until the server hangs up
	}
	if r, err := client.Exec(t.Context(), sh("true")); err != nil || !r.OK() {
		t.Errorf("afterwards: %+v, %v", r, err)
	}
}

func TestTheProgramRunsNowhereButInAContainer(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {t.TempDir()}, {"serve"}, {"a", "b"}} {
		if code := execserver.Main(t.Context(), args); code == 0 {
			t.Errorf("%q ran", args)
		}
	}
}
