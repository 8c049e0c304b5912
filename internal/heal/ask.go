package heal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/probe"
	"signalbox/internal/process"
	"signalbox/internal/workflow"
)

const (
	// shownOutput is how much of what a command printed last is kept, in bytes.
	shownOutput = 8 << 10
	// outputLimit is how much is read of it before the rest is dropped, in bytes.
	outputLimit = 32 << 20
	// exitWait is what a program that was told to ask a service has beyond its time limit, to say so.
	exitWait = 5 * time.Second
)

// once looks at one check.
func (p *pass) once(ctx context.Context, c workflow.HealthCheck, place Place) (seen, *sight, error) {
	limit := time.Duration(c.TimeLimitMS) * time.Millisecond
	switch c.Kind {
	case workflow.HealthCommand:
		s, err := p.run(ctx, place, process.Command{Args: shell(c.Command), Total: limit})
		return s, nil, err
	case workflow.HealthBranchTests:
		s, err := p.tests(ctx, place, limit)
		return s, nil, err
	case workflow.HealthForgeCI:
		s, err := p.ci(ctx)
		return s, nil, err
	case workflow.HealthLog:
		return p.readLog(ctx, c, place)
	}
	if c.HTTP.Start != "" {
		command := p.Ask(c)
		command.Total = limit + exitWait
		s, err := p.run(ctx, place, command)
		s.message = strings.TrimPrefix(s.message, exited(1)+"\n") // it says itself what is wrong
		return s, nil, err
	}
	asking, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s, err := judged(probe.Ask(asking, *c.HTTP))
	return s, nil, err
}

// shell lets a line of the configuration be read by sh. It is one argument, never put together from parts.
func shell(line string) []string { return []string{"sh", "-c", line} }

// judged is an answer's problem as a failure, and every other error as one.
func judged(err error) (seen, error) {
	var answer *probe.Answer
	switch {
	case err == nil:
		return seen{outcome: LookPassed}, nil
	case errors.As(err, &answer):
		return seen{outcome: LookFailed, message: answer.Problem}, nil
	}
	return seen{}, err
}

// run runs a command in the place. It fails by its exit code, or by taking longer than it may, which is
// the same error however far it came.
func (p *pass) run(ctx context.Context, place Place, c process.Command) (seen, error) {
	said := &tail{}
	c.Stdout, c.Stderr, c.OutputLimit = said, said, outputLimit
	result, err := place.Exec(ctx, c)
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return seen{}, fmt.Errorf("run health check: %w", err)
	}
	if result.OK() {
		return seen{outcome: LookPassed}, nil
	}
	text := strings.ReplaceAll(said.String(), place.Dir()+"/", "")
	s := seen{outcome: LookFailed}
	switch result.Ending {
	case process.TimedOut:
		s.signature = fmt.Sprintf("took longer than its time limit of %s", c.Total)
		s.message = s.signature + "\n" + text
	case process.NoMemory:
		s.signature = "ended by the kernel: out of memory"
		s.message = s.signature + "\n" + text
	default:
		s.message = exited(result.ExitCode) + "\n" + text
		if result.Signal != "" {
			s.message = "ended by " + result.Signal + "\n" + text
		}
	}
	return s, nil
}

func exited(code int) string { return fmt.Sprintf("exit code %d", code) }

// tests runs the project's tests, one after the other until one fails.
func (p *pass) tests(ctx context.Context, place Place, limit time.Duration) (s seen, err error) {
	for _, line := range p.Tests {
		if s, err = p.run(ctx, place, process.Command{Args: shell(line), Total: limit}); err != nil || s.outcome != LookPassed {
			s.message = strings.TrimSpace("$ " + line + "\n" + s.message)
			return s, err
		}
	}
	return s, nil
}

// ci is what the forge's CI last said.
func (p *pass) ci(ctx context.Context) (seen, error) {
	if p.Branch == nil {
		return seen{outcome: LookUnknown, message: "this forge knows of no CI"}, nil
	}
	check, err := p.Branch(ctx)
	switch {
	case errors.Is(err, forge.ErrNoChecks):
		return seen{outcome: LookUnknown, message: "no CI has looked at what is on the branch now"}, nil
	case err != nil:
		return seen{}, err
	case check.State == forge.CheckPassed:
		return seen{outcome: LookPassed}, nil
	}
	return seen{outcome: LookFailed, message: strings.TrimSpace(check.Command + "\n" + check.Summary)}, nil
}

// tail keeps what was written last.
type tail struct {
	mu   sync.Mutex
	data []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.data = append(t.data, p...); len(t.data) > 2*shownOutput {
		t.data = append([]byte(nil), t.data[len(t.data)-shownOutput:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data[max(0, len(t.data)-shownOutput):])
}
