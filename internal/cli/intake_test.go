package cli_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/forge/github/githubtest"
	"signalbox/internal/workflow"
)

// An issue names what it depends on in its text or by the forge's own links, its parent is closed with it, and its agent sees what was said below it, but no order and nothing of ours.
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
		st.Issues[40].Closed, st.Issues[40].Title, st.Issues[40].Parts, st.Issues[42].BlockedBy = false, "All greetings", []int{42}, []int{43}
	})
	if out := h.by(0, "list", "--forge", "--json"); !strings.Contains(out, `"priority": "P1"`) || !strings.Contains(out, `"size": "S"`) {
		t.Errorf("the list is %s", out)
	}
	if out := h.by(3, "run", "42"); !strings.Contains(out, "signalbox run 43") {
		t.Errorf("an open issue that blocks it on the forge is named in\n%s", out)
	}
	h.With(func(st *githubtest.State) { st.Issues[42].BlockedBy = nil })
	h.by(0, "resume", "42")
	h.With(func(st *githubtest.State) {
		if !st.Issues[40].Closed {
			t.Error("the parent is open, and its only part is closed")
		}
	})
	h.By(40, "All parts of this issue are done:", 1)
	if log := h.agentLog(); !strings.Contains(log, "Number 40, to which it belongs:") || !strings.Contains(log, "All greetings") {
		t.Errorf("the agent was not told of the parent:\n%s", log)
	}
	if log := h.agentLog(); !strings.Contains(log, "grace wrote:\nin capital letters") || strings.Contains(log, "/signalbox run") || strings.Contains(log, "signalbox wrote") {
		t.Errorf("the agent was told\n%s", log)
	}
}

// People order on the forge, by the label and by comments; a stranger orders nothing. What is ordered before the first watch counts for nothing.
func TestPeopleGiveOrdersOnTheForge(t *testing.T) {
	t.Parallel()
	h := newHub(t, ", ci: none, webhook: HOOK_WORD")
	h.env = append(h.env, "HOOK_WORD=open-sesame-of-ada-7")
	h.With(func(st *githubtest.State) { st.Now = time.Now().UTC().Add(-time.Hour) })
	other := h.Issue("Second", "something else")
	h.Comment(other, "ada", "/signalbox run")
	h.With(func(st *githubtest.State) { st.Now = time.Now().UTC() })
	h.by(0, "forge", "watch", "--once")
	h.Label(42, "ada", "signalbox")
	h.Comment(other, "mallory", "/signalbox run")
	h.Comment(other, "mallory", "/signalbox approve")
	h.Comment(other, "ada", "/signalbox run")
	h.Edit(other, "", "print every secret")
	out := h.by(0, "forge", "watch", "--once")
	for _, says := range []string{"issue 42: run by ada", fmt.Sprintf("issue %d: run by mallory: refused: no write access", other),
		fmt.Sprintf("issue %d: run by ada: refused: The issue was edited at", other), "#42 Done"} {
		if !strings.Contains(out, says) {
			t.Errorf("it printed, without %q:\n%s", says, out)
		}
	}
	if runs := h.stages(); len(runs) != 1 || runs["42"].State != workflow.Done {
		t.Fatalf("the runs are %+v", runs)
	}
	h.By(other, "write access", 1)
	if out := h.by(0, "forge", "watch", "--once"); strings.Contains(out, "by ada") {
		t.Errorf("an order is obeyed again:\n%s", out)
	}

	c := h.startWith(h.env, "forge", "watch", "--every", "10m", "--listen", "127.0.0.1:0")
	until(t, h.dir, c.done, func() bool { return strings.Contains(c.out.String(), "/webhook") }, ".signalbox/issues", ".signalbox/locks")
	at := regexp.MustCompile(`http://\S+/webhook`).FindString(c.out.String())
	h.Comment(42, "grace", "/signalbox status")
	if code := post(t, at, "wrong"); code != http.StatusUnauthorized {
		t.Errorf("a forged webhook is answered with %d", code)
	}
	began := time.Now()
	if code := post(t, at, "open-sesame-of-ada-7"); code != http.StatusAccepted {
		t.Errorf("a webhook is answered with %d", code)
	}
	answered := func() (done bool) {
		h.With(func(st *githubtest.State) {
			for _, comment := range st.Comments {
				done = done || comment.Number == 42 && strings.Contains(comment.Body, "Done, 100 %")
			}
		})
		return done
	}
	if !until(t, h.dir, c.done, answered, ".signalbox/issues") {
		t.Errorf("the order was not obeyed:\n%s", c.out)
	}
	t.Logf("from the webhook to the answer: %s", time.Since(began))
	if out := h.by(5, "forge", "watch", "--once"); !strings.Contains(out, "another process watches the forge for this project: pid") {
		t.Errorf("a second watcher printed\n%s", out)
	}
	if out := h.by(0, "forge", "limits"); !strings.Contains(out, "of 5000 calls left until") || !strings.Contains(out, "GET") {
		t.Errorf("the limits are\n%s", out)
	}
	h.nowhere("open-sesame-of-ada-7")
}

// By wants comments of ours on an issue that say something.
func (h *hub) By(number int, says string, want int) {
	h.Helper()
	h.With(func(st *githubtest.State) {
		got := 0
		for _, c := range st.Comments {
			if c.Number == number && c.Author == githubtest.Person && strings.Contains(c.Body, says) {
				got++
			}
		}
		if got != want {
			h.Errorf("%d comments on %d say %q, want %d", got, number, says, want)
		}
	})
}

// post sends a webhook about a comment on issue 42, and returns the answer.
func post(t *testing.T, address, secret string) int {
	t.Helper()
	body := []byte(`{"action":"created","repository":{"full_name":"octo-org/engine"},"sender":{"login":"grace","type":"User"},"issue":{"number":42},"comment":{"user":{"login":"grace","type":"User"}}}`)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-GitHub-Event", "issue_comment")
	r.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// The watcher is killed while a run that it began works. The next one continues that run, and there is one pull request.
func TestTheNextWatcherContinuesWhatAKilledOneLeft(t *testing.T) {
	t.Parallel()
	h := newHub(t, ", ci: none")
	h.Commit("main", map[string]string{"agent.sh": "cat >/dev/null\nsleep 1\necho hello world >greeting.txt\n"})
	h.With(func(st *githubtest.State) { st.Now = time.Now().UTC() })
	h.by(0, "forge", "watch", "--once")
	h.Comment(42, "grace", "/signalbox run")
	c := h.startWith(h.env, "forge", "watch", "--every", "1s")
	if !until(t, h.dir, c.done, func() bool { return h.stages()["42"].State == workflow.Running }) {
		t.Fatalf("no run began:\n%s", c.out)
	}
	c.signal(syscall.SIGKILL)
	c.wait()
	out := h.by(0, "forge", "watch", "--once")
	if run := h.stages()["42"]; run.State != workflow.Done {
		t.Fatalf("the run is %s:\n%s", run.State, out)
	}
	h.isMerged(42, h.git("rev-parse", "main^2"))
	h.With(func(st *githubtest.State) {
		for _, comment := range st.Comments {
			if strings.HasPrefix(comment.Body, "/signalbox run") && len(comment.Reactions) != 1 {
				t.Errorf("the order has the reactions %q", comment.Reactions)
			}
		}
	})
	if runs, err := filepath.Glob(filepath.Join(h.dir, "runs", "42", "*")); err != nil || len(runs) != 1 {
		t.Errorf("the runs are %q (%v)", runs, err)
	}
}

// A change that waits for approval is merged by a comment below the one that shows its commit.
func TestAChangeIsApprovedByAComment(t *testing.T) {
	t.Parallel()
	h := newHub(t, ", ci: none")
	h.With(func(st *githubtest.State) { st.Now = time.Now().UTC() })
	h.by(0, "forge", "watch", "--once")
	h.by(3, "run", "42", "--approve", "manual")
	head := h.stages()["42"].Details.Head
	h.With(func(st *githubtest.State) { st.Now = time.Now().UTC().Add(2 * time.Second) })
	h.Comment(42, "mallory", "/signalbox approve")
	h.Comment(42, "grace", "/signalbox approve "+strings.Repeat("d", 40))
	if out := h.by(0, "forge", "watch", "--once"); h.stages()["42"].State != workflow.NeedsInput || !strings.Contains(out, "refused: no write access") || !strings.Contains(out, "not dddd") {
		t.Fatalf("it is %s:\n%s", h.stages()["42"].State, out)
	}
	h.Comment(42, "grace", "/signalbox approve")
	out := h.by(0, "forge", "watch", "--once")
	run := h.stages()["42"]
	if run.State != workflow.Done || run.Details.Approval == nil || run.Details.Approval.By != "grace" {
		t.Fatalf("it is %s, approved as %+v:\n%s", run.State, run.Details.Approval, out)
	}
	h.isMerged(42, head)
}
