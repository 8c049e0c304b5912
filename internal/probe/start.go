package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// shownOutput is how much of the end of the service's output is shown, in bytes.
const shownOutput = 4 << 10

// StartAndAsk starts the service, waits until it accepts connections, asks it, and ends it with all its
// child processes. env is the service's environment, to which it adds PORT.
func StartAndAsk(ctx context.Context, q workflow.HealthHTTP, exec process.Executor, env []string) error {
	// If another process takes the port before the service does, the service reports the conflict.
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("find a free port: %w", err)
	}
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	if err := listener.Close(); err != nil {
		return fmt.Errorf("find a free port: %w", err)
	}
	q.URL = strings.ReplaceAll(q.URL, "{port}", port)
	serving, stop := context.WithCancel(ctx)
	defer stop()
	s := &service{ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		s.result, s.err = exec.Exec(serving, process.Command{Args: []string{"sh", "-c", q.Start}, Env: append([]string{"PORT=" + port}, env...),
			Stdout: &s.said, Stderr: &s.said})
	}()
	err = s.reached(ctx, q)
	if err == nil {
		err = Ask(ctx, q)
	}
	stop()
	<-s.ended
	var answer *Answer
	if said := s.said.String(); errors.As(err, &answer) && said != "" {
		return &Answer{answer.Problem + "\nThe service said:\n" + redact.Clean(said)}
	}
	return err
}

// service is a started service.
type service struct {
	said   tail
	ended  chan struct{}
	result process.Result
	err    error
}

// reached waits until a connection to the request's address succeeds.
func (s *service) reached(ctx context.Context, q workflow.HealthHTTP) error {
	u, err := url.Parse(q.URL)
	if err != nil {
		return fmt.Errorf("read address: %w", err)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	address := net.JoinHostPort(u.Hostname(), port)
	tick := time.NewTicker(settle)
	defer tick.Stop()
	for {
		var dialer net.Dialer
		connection, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return connection.Close()
		}
		select {
		case <-tick.C:
		case <-s.ended:
			if s.err != nil {
				return fmt.Errorf("start service: %w", s.err)
			}
			return wrong("%s: the service ended before it listened: exit code %d", named(q), s.result.ExitCode)
		case <-ctx.Done():
			return wrong("%s: the service did not listen within its time limit", named(q))
		}
	}
}

// tail keeps the last shownOutput bytes that were written.
type tail struct {
	mu   sync.Mutex
	data []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	t.data = t.data[max(0, len(t.data)-shownOutput):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data)
}
