package heal

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/health"
	"signalbox/internal/probe"
	"signalbox/internal/process"
	"signalbox/internal/workflow"
)

const (
	// shownOutput is how much of the end of a command's output is kept, in bytes.
	shownOutput = 8 << 10
	// signedOutput is how much of it identifies an error, in bytes. It is much larger than shownOutput, because otherwise the length of some lines
	// would decide which others count.
	signedOutput = 256 << 10
)

// once runs one check once.
func (p *pass) once(ctx context.Context, c workflow.HealthCheck, place Place) (seen, *sight, error) {
	limit := c.Limit()
	switch c.Kind {
	case workflow.HealthCommand:
		s, err := p.run(ctx, place, process.Command{Args: shell(c.Command), Total: limit}, limit)
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
		command.Total = limit
		s, err := p.run(ctx, place, command, limit)
		if said := strings.TrimSpace(s.said); s.head == "exit code 1" && said != "" { // the program says itself what is wrong
			s = answered(said)
		}
		return s, nil, err
	}
	asking, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := probe.Ask(asking, *c.HTTP)
	var answer *probe.Answer
	switch {
	case err == nil:
		return seen{outcome: LookPassed}, nil, nil
	case errors.As(err, &answer): // a wrong answer is a failed check, any other error an obstacle
		return answered(answer.Problem), nil, nil
	}
	return seen{}, nil, err
}

// shell returns the command with which sh runs a configured line. The line is one argument, never assembled from parts.
func shell(line string) []string { return []string{"sh", "-c", line} }

// answered returns a failed check: the first line is probe's description, and the service's own words follow.
func answered(problem string) seen {
	head, said, _ := strings.Cut(problem, "\n")
	return seen{outcome: LookFailed, message: problem, head: head, said: said}
}

// run runs a command in the place, within limit. It fails by its exit code or by exceeding the limit; a timeout is the same error however far the
// command got.
func (p *pass) run(ctx context.Context, place Place, c process.Command, limit time.Duration) (seen, error) {
	said := &tail{}
	c.Stdout, c.Stderr, c.OutputLimit = said, said, 0 // unlimited: the reason for a failure is at the end
	result, err := place.Exec(ctx, c)
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return seen{}, fmt.Errorf("run health check: %w", err)
	}
	if result.OK() {
		return seen{outcome: LookPassed, took: result.Duration}, nil
	}
	below := strings.NewReplacer(place.Dir()+"/", "")
	text, cut := said.last(shownOutput)
	if cut {
		text = health.LeftOut + "\n" + text
	}
	whole, _ := said.last(signedOutput)
	text, whole = below.Replace(text), below.Replace(whole)
	s := seen{outcome: LookFailed}
	switch result.Ending {
	case process.TimedOut:
		s.head = fmt.Sprintf("took longer than its time limit of %s", limit)
	case process.NoMemory:
		s.head = "ended by the kernel: out of memory"
	default:
		s.head, s.said = fmt.Sprintf("exit code %d", result.ExitCode), whole
		if result.Signal != "" {
			s.head = "ended by " + result.Signal
		}
	}
	s.message = headed(s.head, text)
	return s, nil
}

// headed puts a program's output below a line that describes it. The colon separates them in lists, which show both on one line.
func headed(head, text string) string {
	if text = strings.TrimSpace(text); text == "" || head == "" {
		return head + text
	}
	return head + ":\n" + text
}

// tests runs the project's tests one by one until one fails. limit covers all of them together.
func (p *pass) tests(ctx context.Context, place Place, limit time.Duration) (s seen, err error) {
	for _, line := range p.Tests {
		took := s.took
		if s, err = p.run(ctx, place, process.Command{Args: shell(line), Total: max(limit-took, 1)}, limit); err != nil || s.outcome != LookPassed {
			s.message, s.head = headed("$ "+line, s.message), "$ "+line+"\n"+s.head
			return s, err
		}
		s.took += took
	}
	return s, nil
}

// ci returns the last result of the forge's CI.
func (p *pass) ci(ctx context.Context) (seen, error) {
	if p.Branch == nil {
		return seen{outcome: LookUnknown, message: "this forge knows of no CI"}, nil
	}
	check, err := p.Branch(ctx)
	switch {
	case errors.Is(err, forge.ErrNoChecks):
		return seen{outcome: LookUnknown, message: "no CI has looked at what is on the branch now"}, nil
	case errors.Is(err, forge.ErrPending):
		return seen{outcome: LookUnknown, message: err.Error()}, nil
	case err != nil:
		return seen{}, err
	case check.State == forge.CheckPassed:
		return seen{outcome: LookPassed}, nil
	}
	if check.Server == "" {
		return seen{outcome: LookFailed, message: headed(check.Command, check.Summary), head: check.Command, said: check.Summary}, nil
	}
	// Pages and summaries differ from one run of a CI to the next, so the log identifies the error where there is one.
	log := ""
	if check.Log != nil {
		log = check.Log(ctx)
	}
	return seen{outcome: LookFailed, message: headed(check.Summary, log), head: check.Server, said: cmp.Or(log, check.Summary)}, nil
}

// tail keeps the last bytes that were written.
type tail struct {
	mu   sync.Mutex
	data []byte
	// cut: the data does not start at the start of a line.
	cut bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.data = append(t.data, p...); len(t.data) > 2*signedOutput {
		t.data, t.cut = append([]byte(nil), t.data[len(t.data)-signedOutput:]...), true
	}
	return len(p), nil
}

// last returns the whole lines among the last n bytes, or the end of a line that is longer than that. cut: something came before.
func (t *tail) last(n int) (text string, cut bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	data := t.data
	cut = t.cut
	if len(data) > n {
		data, cut = data[len(data)-n:], true
	}
	if i := bytes.IndexByte(data, '\n'); cut && i >= 0 && i+1 < len(data) {
		data = data[i+1:]
	}
	return string(data), cut
}
