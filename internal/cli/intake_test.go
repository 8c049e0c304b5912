package cli_test

import (
	"strings"
	"testing"

	"signalbox/internal/forge/github/githubtest"
)

// An issue names what it depends on in its text, and its agent sees what was said below it, but no order and nothing of ours.
func TestAnIssueSaysWhatItDependsOnAndWhatWasSaid(t *testing.T) {
	t.Parallel()
	h := newHub(t, ", ci: none")
	text := func(body string) {
		h.With(func(st *githubtest.State) { st.Issues[42].Body = body })
	}
	for body, says := range map[string]string{
		"depends on #77": `request 42 depends on "77", and there is no such request`,
		"depends on #42": "request 42 depends on itself",
		"blocked by #43": "in a circle: #42 #43 #42",
	} {
		text(body)
		h.With(func(st *githubtest.State) {
			st.Issues[43] = &githubtest.Issue{Title: "Second", Body: "depends on #42", Author: "mallory", Created: st.Now, Updated: st.Now}
		})
		if out := h.by(map[bool]int{true: 6, false: 1}[strings.Contains(body, "77")], "run", "42"); !strings.Contains(out, says) || !strings.Contains(out, `change "depends on" in the text of issue`) {
			t.Errorf("%q: it printed, without %q:\n%s", body, says, out)
		}
	}
	text("greeting.txt says hello world. Depends on #41.")
	h.Commit("main", map[string]string{"agent.sh": "cat\necho hello world >greeting.txt\n"})
	h.Comment(42, "grace", "in capital letters")
	h.Comment(42, "grace", "/signalbox run")
	h.With(func(st *githubtest.State) {
		st.Issues[42].Labels = []string{"P1", "size/S"}
	})
	if out := h.by(0, "list", "--forge", "--json"); !strings.Contains(out, `"priority": "P1"`) || !strings.Contains(out, `"size": "S"`) {
		t.Errorf("the list is %s", out)
	}
	h.by(0, "run", "42")
	if log := h.agentLog(); !strings.Contains(log, "grace wrote:\nin capital letters") || strings.Contains(log, "/signalbox run") || strings.Contains(log, "signalbox wrote") {
		t.Errorf("the agent was told\n%s", log)
	}
}
