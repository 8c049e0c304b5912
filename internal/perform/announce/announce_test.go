package announce

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/engine"
	"signalbox/internal/forge"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// server is a forge that takes announcements. It answers with the errors in fail, one each.
type server struct {
	forge.Forge
	mu   sync.Mutex
	said []forge.Announcement
	fail []error
	came chan struct{}
}

func (s *server) Announce(_ context.Context, _ forge.Request, a forge.Announcement) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, a)
	s.came <- struct{}{}
	if len(s.fail) == 0 {
		return nil
	}
	err := s.fail[0]
	s.fail = s.fail[1:]
	return err
}

// files is a forge on this machine.
type files struct {
	forge.Forge
	said []string
}

func (f *files) Comment(_ context.Context, _ forge.Request, key, body string) error {
	f.said = append(f.said, key+": "+firstLine(body))
	return nil
}

// at is a clock that the test sets, and whose waits it ends.
type clockAt struct {
	mu    sync.Mutex
	now   time.Time
	waits chan time.Duration
	over  chan time.Time
}

func (c *clockAt) clock() engine.Clock {
	return engine.Clock{Now: func() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }, After: func(d time.Duration) <-chan time.Time {
		c.waits <- d
		return c.over
	}}
}

func (c *clockAt) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// telling is an announced run, and what became of it.
type telling struct {
	*Run
	*server
	clock *clockAt
	log   bytes.Buffer
}

func newTelling() *telling {
	s := &telling{server: &server{came: make(chan struct{}, 100)}, clock: &clockAt{now: noon, waits: make(chan time.Duration, 100), over: make(chan time.Time, 100)}}
	s.Run = New(Config{Forge: s.server, Redact: redact.New(nil), Clock: s.clock.clock(), Logger: slog.New(slog.NewTextHandler(&s.log, nil))})
	return s
}

func asked(context.Context) (forge.Request, error) { return forge.Request{Number: 42}, nil }

// inPhase is the run at another place, a transition later than the last.
func (s *telling) inPhase(phase workflow.Phase) workflow.Run {
	run := implementing()
	run.Details.Phase, run.Details.Transition = phase, s.transition+1
	return run
}

func (s *telling) tells(t *testing.T, run workflow.Run, want int) {
	t.Helper()
	if err := s.Tell(t.Context(), run, asked); err != nil {
		t.Error(err)
	}
	s.has(t, want)
}

func (s *telling) has(t *testing.T, want int) {
	t.Helper()
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	if len(s.said) != want {
		t.Fatalf("there are %d announcements, want %d", len(s.said), want)
	}
}

func TestMerePhasesAreToldEveryFifteenSecondsAndOutcomesAtOnce(t *testing.T) {
	t.Parallel()
	s := newTelling()
	queued := implementing()
	queued.State = workflow.Queued
	s.tells(t, queued, 0)
	s.tells(t, s.inPhase(workflow.TDDRed), 1)
	s.tells(t, s.inPhase(workflow.TDDRed), 1) // nothing new
	s.tells(t, s.inPhase(workflow.TDDGreen), 1)
	s.clock.pass(apart - time.Second)
	s.tells(t, s.inPhase(workflow.TDDRefactor), 1)
	s.clock.pass(time.Second)
	s.tells(t, s.inPhase(workflow.TDDRefactor), 2)
	s.tells(t, s.inPhase(workflow.ReviewRequest), 2)
	s.tells(t, approval(), 2) // an older run than the latest
	last := approval()
	last.Details.Transition = 100
	s.tells(t, last, 3)
	s.tells(t, last, 3)
	if !strings.Contains(s.said[2].Progress, "**Needs input**") || s.said[2].Call == nil || s.said[2].Label != forge.LabelNeedsInput {
		t.Errorf("the last is %+v", s.said[2])
	}
	restarted := newTelling()
	restarted.tells(t, last, 1)
}

// A run that waits for an approval of its pull request looks for it every few minutes, for days. People are asked once, whether the configuration or
// the protection of the branch wants the approval. If the protection does, no order here replaces it.
func TestAnApprovalOnTheForgeIsAskedForOnce(t *testing.T) {
	t.Parallel()
	const first, here = "the change waits for an approval of the pull request: `octo/team`, `eve` · approve the pull request: https://forge.example/pull/7", "or in a terminal: `signalbox approve 42`, or comment `/signalbox approve 1111111111`"
	for _, c := range []struct {
		name             string
		configured, asks bool
		call, progress   string
	}{
		{"approve: forge", true, false, "- " + here + "\n- or send it back: `signalbox reject", first + ", " + here + "\n"},
		{"protection", false, true, "", first + "\n"},
		{"both", true, true, "- or send it back: `signalbox reject", first + "\n"},
	} {
		s := newTelling()
		for look := range 10 {
			run := s.inPhase(workflow.CIWatch)
			j := &run.Details
			j.Settings.ApproveOnForge, j.Pending = c.configured, []workflow.Action{{Kind: workflow.WatchChecks}}
			j.PullRequest = &workflow.PullRequest{Number: 7, URL: "https://forge.example/pull/7", Checked: &workflow.Candidate{Head: j.Head}, Awaits: &workflow.Await{Kind: "approval", Of: []string{"octo/team", "eve"}, Required: c.asks}}
			if until := noon.Add(time.Duration(look) * time.Minute); look%2 == 0 {
				run.State, j.ParkedUntil = workflow.Queued, &until
			}
			s.clock.pass(time.Minute)
			s.tells(t, run, 1)
		}
		said := s.said[0]
		_, ways, asked := strings.Cut(said.Call.Body, "- approve the pull request: https://forge.example/pull/7\n")
		if !asked || !strings.HasPrefix(ways, c.call) || c.call == "" && ways != "" || said.Label != forge.LabelNeedsInput || !strings.HasPrefix(said.Progress, "**Needs input** · "+c.progress) {
			t.Errorf("%s: it tells %+v", c.name, said)
		}
		for _, v := range said.Verdicts {
			if v.Name == forge.VerdictApproval && v.State != forge.Pending && c.configured {
				t.Errorf("%s: the approval is %s", c.name, v.State)
			}
		}
		if strings.Contains(said.Progress, "Next deadline") {
			t.Errorf("%s: it tells when it looks again, which is outdated soon: %s", c.name, said.Progress)
		}
		merging := s.inPhase(workflow.CIWatch)
		merging.Details.PullRequest = &workflow.PullRequest{Number: 7, Checked: &workflow.Candidate{Head: merging.Details.Head}}
		s.tells(t, merging, 2)
		if said := s.said[1]; said.Call != nil || said.Label != forge.LabelRunning {
			t.Errorf("%s: once it's approved, it tells %+v", c.name, said)
		}
	}
}

func TestWhatWasPutOffIsToldWhileAnActionGoesOn(t *testing.T) {
	t.Parallel()
	s := newTelling()
	s.tells(t, s.inPhase(workflow.TDDRed), 1)
	s.tells(t, s.inPhase(workflow.TDDGreen), 1)
	end := s.During(t.Context())
	if d := <-s.clock.waits; d != apart {
		t.Errorf("it waits %s", d)
	}
	s.clock.pass(apart)
	s.clock.over <- noon
	<-s.came
	<-s.came
	end()
	s.has(t, 2)
	if !strings.Contains(s.said[1].Data, `"step":"tdd-green"`) {
		t.Errorf("it tells %s", s.said[1].Data)
	}
	s.During(t.Context())() // nothing is left
	s.has(t, 2)
}

func TestAQuestionIsToldAtOnceAndItsEndToo(t *testing.T) {
	t.Parallel()
	s := newTelling()
	s.tells(t, s.inPhase(workflow.TDDGreen), 1)
	<-s.came
	end := s.During(t.Context())
	question := asking(workflow.Question{Kind: workflow.TextQuestion, Text: "Why?"})
	question.Details.Transition = s.transition + 1
	s.Observe(question)
	<-s.came
	s.Observe(question)
	answered := s.inPhase(workflow.TDDGreen)
	answered.Details.Transition = 100
	s.Observe(answered)
	<-s.came
	end()
	s.has(t, 3)
	if s.said[1].Call == nil || !strings.Contains(s.said[1].Call.Body, "Why?") || s.said[1].Label != forge.LabelNeedsInput || s.said[2].Call != nil {
		t.Errorf("it tells %+v", s.said)
	}
}

func TestAFailureIsTriedAgainLaterAndNeverMatters(t *testing.T) {
	t.Parallel()
	s := newTelling()
	s.fail = []error{&forge.Failure{Kind: forge.Unavailable}}
	if err := s.Tell(t.Context(), s.inPhase(workflow.TDDRed), asked); err == nil {
		t.Error("the failure is not reported")
	}
	s.tells(t, s.inPhase(workflow.TDDRed), 1) // not at every transition
	s.clock.pass(apart)
	s.tells(t, s.inPhase(workflow.TDDRed), 2)

	s.clock.pass(apart)
	s.fail = []error{&forge.Failure{Kind: forge.Limited, RetryAfter: time.Hour}}
	if err := s.Tell(t.Context(), s.inPhase(workflow.TDDGreen), asked); err == nil {
		t.Error("the limit is not reported")
	}
	s.clock.pass(time.Hour - time.Second)
	question := asking(workflow.Question{Kind: workflow.TextQuestion, Text: "Why?"})
	question.Details.Transition = s.transition + 1
	s.tells(t, question, 3) // the server takes no calls
	s.clock.pass(time.Second)
	question.Details.Transition++
	s.tells(t, question, 4)
}

func TestAServerThatStaysDownIsTriedEverMoreRarely(t *testing.T) {
	t.Parallel()
	s := newTelling()
	for range 100 {
		s.fail = append(s.fail, &forge.Failure{Kind: forge.Unavailable})
	}
	tries := func(during time.Duration) int {
		before := len(s.said)
		for range int(during / apart) {
			_ = s.Tell(t.Context(), s.inPhase(workflow.TDDRed), asked)
			s.clock.pass(apart)
		}
		return len(s.said) - before
	}
	if first, later := tries(16*time.Minute), tries(160*time.Minute); first != 7 || later != 10 {
		t.Errorf("%d tries in 16 minutes, then %d in 160", first, later)
	}
	s.fail = nil
	s.clock.pass(time.Hour)
	s.tells(t, s.inPhase(workflow.TDDRed), 18)
}

func TestTheLastStateIsToldTwiceIfTheServerFails(t *testing.T) {
	t.Parallel()
	s := newTelling()
	s.fail = []error{errors.Join(errors.New("announce"), &forge.Failure{Kind: forge.Unavailable})}
	s.clock.over <- noon
	run := approval()
	run.Details.Transition = 100
	s.tells(t, run, 2)
	if d := <-s.clock.waits; d != again {
		t.Errorf("it waits %s", d)
	}
}

func TestFilesHaveTheCommentOfEachPhase(t *testing.T) {
	t.Parallel()
	f := &files{}
	a := in("")
	a.Forge = f
	for i, phase := range []workflow.Phase{workflow.TDDRed, workflow.TDDGreen} {
		run := implementing()
		run.Details.Phase, run.Details.Transition = phase, 10+i
		if err := a.Tell(t.Context(), run, asked); err != nil {
			t.Error(err)
		}
	}
	if len(f.said) != 2 || !strings.HasPrefix(f.said[1], forge.ProgressComment+": **Running** · implementing") {
		t.Errorf("the comments are %q", f.said)
	}
}

func TestOurVerdictsSumUpPhases(t *testing.T) {
	t.Parallel()
	run := implementing()
	for i := range run.Details.Phases {
		run.Details.Phases[i].Status = workflow.StepDone
	}
	run.Details.PullRequest = &workflow.PullRequest{Number: 7}
	phases := run.Details.Phases
	said := func(name string) (forge.VerdictState, string) {
		t.Helper()
		for _, v := range in("").announcement(&run).Verdicts {
			if v.Name == name {
				return v.State, v.Summary
			}
		}
		t.Errorf("%s is missing", name)
		return "", ""
	}
	for _, c := range []struct {
		name    string
		phase   workflow.Phase
		status  workflow.StepStatus
		state   forge.VerdictState
		summary string
	}{
		{forge.VerdictTests, workflow.CIWatch, workflow.StepRunning, forge.Pending, "testing the merge candidate"},
		{forge.VerdictTests, workflow.CIWatch, workflow.StepDone, forge.Passed, "passed"},
		{forge.VerdictTests, workflow.TDDGreen, workflow.StepFailed, forge.Failed, "failed"},
		{forge.VerdictReview, workflow.ReviewFix, workflow.StepSkipped, forge.Passed, "passed"},
		{forge.VerdictApproval, workflow.ApprovalWait, workflow.StepSkipped, forge.Passed, "left out of this run"},
		{forge.VerdictApproval, workflow.ApprovalWait, workflow.StepNeedsInput, forge.Pending, "waits for a person"},
	} {
		phases[c.phase].Status = c.status
		if state, summary := said(c.name); state != c.state || summary != c.summary {
			t.Errorf("with %s %s, %s is %s, %q; want %s, %q", c.phase, c.status, c.name, state, summary, c.state, c.summary)
		}
		phases[c.phase].Status = workflow.StepDone
	}
	run.Details.PullRequest = nil
	if all := in("").announcement(&run).Verdicts; all != nil {
		t.Errorf("without a pull request there are %v", all)
	}
}
