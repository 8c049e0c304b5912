package pipeline_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"signalbox/internal/pipeline"
)

func TestNothingInAStateCanSetAnOutputOrTheStateOfACriticalLoopExpire(t *testing.T) {
	t.Parallel()
	s := newSite(t, pipeline.GitHub(), repairs)
	hostile := "x\nEOF\ngo=true\ngo<<EOF\ntrue\nEOF\n::set-output name=go::true\n::error::no"
	s.saved(50*time.Hour, map[string]string{"state.json": fmt.Sprintf(`{"last_health_status":"critical","last_error_id":"e","updated_at":%q,"last_error_summary":%s}`,
		time.Now().Format(time.RFC3339), quoted(hostile))})
	r := s.act("schedule", scheduled)
	s.mustEnd(r, map[string]string{"gate": "success"})
	s.mustSay(r, "critical: ")
	if len(s.artifacts) != 2 || s.newest().days != 7 ||
		!maps.Equal(unpacked(t, s.artifacts[0]), unpacked(t, s.artifacts[1])) {
		t.Error("an artifact of two days was not saved again as it was")
	}
}

func TestAFixByAPersonLetsTheLoopContinue(t *testing.T) {
	t.Parallel()
	s := newSite(t, pipeline.GitHub(), repairs)
	s.saved(time.Hour, map[string]string{"state.json": `{"last_health_status":"critical","total_errors_detected":9}`})
	r := s.act("workflow_dispatch", byHand("mended"))
	s.mustEnd(r, map[string]string{"gate": "success"})
	if s.state("last_health_status") != `"healthy"` || s.state("total_errors_detected") != "9" {
		t.Errorf("saved %v", unpacked(t, s.newest()))
	}
	s.runs-- // The same run, started once more.
	s.mustEnd(s.act("workflow_dispatch", byHand("mended")), map[string]string{"gate": "success"})
}

func TestAnExpiredStateStopsTheLoopUntilAPersonBeginsAnew(t *testing.T) {
	t.Parallel()
	s := newSite(t, pipeline.GitHub(), repairs)
	s.saved(8*24*time.Hour, nil)
	s.artifacts[0].expired = true
	r := s.act("schedule", scheduled)
	s.mustEnd(r, map[string]string{"gate": "failure"})
	s.mustSay(r, "of run 41, has expired. Nothing was done. To begin with every total at zero: start this workflow by hand with person = begin-anew")
	r = s.act("workflow_dispatch", byHand("begin-anew"))
	s.mustEnd(r, map[string]string{"gate": "success", "repair": "success"})
	if s.state("total_fixes_succeeded") != "1" {
		t.Errorf("saved %v", unpacked(t, s.newest()))
	}
}

func TestAnArtifactThatCannotBeReadStopsTheLoop(t *testing.T) {
	t.Parallel()
	s := newSite(t, pipeline.GitHub(), repairs)
	s.saved(time.Hour, nil)
	s.artifacts[0].zip = []byte("this is no archive")
	r := s.act("schedule", scheduled)
	s.mustEnd(r, map[string]string{"gate": "failure"})
	s.mustSay(r, "The artifact of run 41 cannot be read")
}

func TestABrokenStateIsRestoredFromTheOneBeforeIt(t *testing.T) {
	t.Parallel()
	s := newSite(t, pipeline.GitHub(), fails)
	s.saved(time.Hour, map[string]string{"state.json": `{"retry_req`, "state.json.bak": failedOnce})
	r := s.act("schedule", scheduled)
	s.mustEnd(r, map[string]string{"gate": "success", "repair": "failure"})
	s.mustSay(r, "deciding by state.json.bak")
	if s.state("continuous_failure_count") != "2" {
		t.Errorf("saved %v", unpacked(t, s.newest()))
	}
}

const failedOnce = `{"last_health_status":"degraded","retry_required":true,"continuous_failure_count":1,"total_errors_detected":5,"total_fixes_attempted":1}`

func quoted(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

// saved has run 41 have saved a state.
func (s *site) saved(ago time.Duration, files map[string]string) {
	s.Helper()
	s.add(saved{run: 41, branch: "main", created: time.Now().Add(-ago), zip: packed(s.T, files)})
}

// state is a key of the state that the workflow saved, as JSON.
func (s *site) state(key string) string {
	s.Helper()
	var state map[string]json.RawMessage
	if err := json.Unmarshal([]byte(unpacked(s.T, s.newest())["state.json"]), &state); err != nil {
		s.Fatal(err)
	}
	return string(state[key])
}

// newest is the state that the last run saved.
func (s *site) newest() saved {
	s.Helper()
	i := slices.IndexFunc(s.artifacts, func(a saved) bool { return a.name == stateName })
	if i < 0 || fmt.Sprint(s.artifacts[i].run) != s.run() {
		s.Fatalf("run %s saved no state", s.run())
	}
	return s.artifacts[i]
}
