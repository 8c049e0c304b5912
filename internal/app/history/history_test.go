package history_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"signalbox/internal/app/history"
	"signalbox/internal/workflow"
)

var epoch = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

func after(minutes int) time.Time { return epoch.Add(time.Duration(minutes) * time.Minute) }

// events are lines as the store writes them: number, minute, state, phase and the first pending action.
func events(rows ...string) []byte {
	var b strings.Builder
	for _, row := range rows {
		var seq, minute, phase int
		var state, action string
		_, _ = fmt.Sscan(row, &seq, &minute, &state, &phase, &action)
		_, _ = fmt.Fprintf(&b, `{"seq":%d,"at":%q,"event":"X","state":%q,"stage":"INIT","phase":%d,"step":%q,"message":"m%d","actions":[%q]}`+"\n",
			seq, after(minute).Format(time.RFC3339), state, phase, workflow.Phase(phase).Step(), seq, action)
	}
	return []byte(b.String())
}

func TestARunAsItWas(t *testing.T) {
	t.Parallel()
	data := events("0 0 QUEUED 0 -", "1 2 RUNNING 0 001-create_branch", "2 3 RUNNING 5 002-call_agent", "3 10 RUNNING 5 003-wait", "6 12 RUNNING 10 006-x",
		"7 13 NEEDS_INPUT 10 -", "8 43 RUNNING 5 008-call_agent", "9 50 RUNNING 10 009-x")
	data = append(data, "{\"seq\":10,\"at\":\"torn"...)
	data = append([]byte("no line of it\n"), data...)
	all := history.Parse(data)
	run := workflow.New(workflow.Start{Number: 1}, epoch)
	run.State, run.Details.Transition = workflow.Running, 9
	began, ended := after(3), after(9)
	run.Steps = []workflow.Step{{StepID: "S01", Status: workflow.StepDone, StartedAt: &began, EndedAt: &ended}, {StepID: "S02", Status: workflow.StepNeedsInput, StartedAt: &ended}}
	run.Details.Evidence = []workflow.Evidence{{At: after(12)}, {At: after(50)}}
	now := after(60)

	var track []string
	for _, p := range history.Track(&run, all, now) {
		end := "now"
		if !p.Ended.IsZero() {
			end = p.Ended.Format("15:04")
		}
		track = append(track, fmt.Sprintf("%s %s-%s worked %v waited %v times %d", p.Phase, p.Began.Format("15:04"), end, p.Worked, p.Waited, p.Times))
	}
	want := "branch-create 03:00-03:03 worked 1m0s waited 2m0s times 1; tdd-green 03:03-03:50 worked 14m0s waited 2m0s times 2; approval-wait 03:12-now worked 11m0s waited 30m0s times 2"
	if got := strings.Join(track, "; "); got != want {
		t.Errorf("its track is %s", got)
	}

	var moments []string
	for i := range all {
		m := history.At(&run, all, i, now)
		moments = append(moments, fmt.Sprintf("%d %s waits %v missing %d lasted %v %s %s tests %d", m.Seq, m.State, m.Waits, m.Missing, m.Lasted, m.Steps[0].Status, m.Steps[1].Status, len(m.Tests)))
	}
	want = `0 QUEUED waits true missing 0 lasted 2m0s PENDING PENDING tests 0
1 RUNNING waits false missing 0 lasted 1m0s PENDING PENDING tests 0
2 RUNNING waits false missing 0 lasted 7m0s RUNNING PENDING tests 0
3 RUNNING waits true missing 0 lasted 2m0s DONE RUNNING tests 0
6 RUNNING waits false missing 2 lasted 1m0s DONE RUNNING tests 1
7 NEEDS_INPUT waits true missing 0 lasted 30m0s DONE RUNNING tests 1
8 RUNNING waits false missing 0 lasted 7m0s DONE RUNNING tests 1
9 RUNNING waits false missing 0 lasted 10m0s DONE NEEDS_INPUT tests 2`
	if got := strings.Join(moments, "\n"); got != want {
		t.Errorf("its moments are\n%s", got)
	}

	run.State = workflow.Done
	if m := history.At(&run, all, len(all)-1, now); m.Lasted != 0 {
		t.Errorf("a run that is over lasts %v", m.Lasted)
	}
	if left := history.Parse(nil); left != nil {
		t.Error(left)
	}
}
