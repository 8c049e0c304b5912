package pending_test

import (
	"encoding/json"
	"slices"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/pending"
)

func TestEachQuestionIsAnsweredOnceAndKnowsItsRequest(t *testing.T) {
	t.Parallel()
	var r pending.Requests[string]
	if r.Has("a") || r.Drop("a") != nil {
		t.Error("what never asked waits")
	}
	asked := slices.Concat(r.Put("a", "first", make([]agent.Question, 2)), r.Put("b", "second", make([]agent.Question, 1)))
	for i, want := range []struct {
		id, request string
		number      int
	}{{"a", "first", 0}, {"a", "first", 1}, {"b", "second", 0}} {
		id, request, number, ok := r.Answered(asked[i])
		if !ok || id != want.id || request != want.request || number != want.number {
			t.Errorf("question %s is number %d of %q, %q, %t; want %+v", asked[i].ID, number, id, request, ok, want)
		}
		if _, _, _, again := r.Answered(asked[i]); again {
			t.Errorf("question %s waits although it was answered", asked[i].ID)
		}
	}
	if !r.Has("a") || r.Drop("a") != nil || r.Has("a") || !r.Has("b") {
		t.Error("a request waits until it is dropped, by itself")
	}
}

func TestARequestIsDroppedWithTheQuestionsThatWait(t *testing.T) {
	t.Parallel()
	var r pending.Requests[string]
	asked, other := r.Put("a", "", make([]agent.Question, 3)), r.Put("b", "", make([]agent.Question, 1))
	r.Answered(asked[1])
	withdrawn := r.Drop("a")
	slices.Sort(withdrawn)
	if !slices.Equal(withdrawn, []string{asked[0].ID, asked[2].ID}) {
		t.Errorf("Drop = %q", withdrawn)
	}
	if _, _, _, ok := r.Answered(asked[0]); ok {
		t.Error("a question of a request that was dropped waits")
	}
	if _, _, _, ok := r.Answered(other[0]); !ok {
		t.Error("a question of another request does not wait")
	}
	if again := r.Put("a", "", make([]agent.Question, 1)); again[0].ID == asked[0].ID {
		t.Error("an answer that comes late would be taken for another question's")
	}
}

func TestAnInquiryIsRepliedToInItsOwnWords(t *testing.T) {
	t.Parallel()
	var i pending.Inquiry
	if err := json.Unmarshal([]byte(`{"question":"Which?","options":[{"label":"Red","description":"like blood"},{"label":"Blue"}]}`), &i); err != nil {
		t.Fatal(err)
	}
	if q := i.Ask("ask"); q.Kind != agent.Choice || q.Tool != "ask" || q.Text != "Which?" || !slices.Equal(q.Options, []string{"Red: like blood", "Blue"}) {
		t.Errorf("Ask = %+v", q)
	}
	for want, a := range map[string]agent.Answer{
		"Red": {Verdict: agent.Chosen}, "Blue": {Verdict: agent.Chosen, Option: 1}, "Green": {Verdict: agent.Replied, Text: "Green", Option: 1},
		"so": {Verdict: agent.Chosen, Option: 2, Text: "so"}, "or": {Verdict: agent.Chosen, Option: -1, Text: "or"},
	} {
		if got := i.Reply(a); got != want {
			t.Errorf("Reply(%+v) = %q, want %q", a, got, want)
		}
	}
	if q := (pending.Inquiry{Question: "Name?"}).Ask("ask"); q.Kind != agent.Words {
		t.Errorf("without options it is %+v", q)
	}
}
