package intake_test

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/forge/forgetest"
	"signalbox/internal/forge/hosted"
)

var mark = regexp.MustCompile(`^<!-- signalbox:[a-z]+=[\w.~%+-]+ -->\n`)

// judged is a forge with a pull request that strangers and a program judge.
type judged struct {
	*world
	text string
}

func (j judged) Proposal(context.Context, int) (forge.Proposal, error) {
	return forge.Proposal{Number: 1, Branch: "b", Head: "h", State: forge.Open}, nil
}

func (j judged) Required(context.Context, string) (forge.Requirements, error) {
	return forge.Requirements{}, nil
}

func (j judged) Reviews(context.Context, int) ([]forge.Review, error) {
	return []forge.Review{{Author: "mallory", Commit: "h", State: forge.Approved, Body: j.text}, {Author: "mallory " + j.text, Commit: "h", State: forge.Approved},
		{Author: "grace", Commit: j.text, State: forge.ChangesWanted, Body: j.text}}, nil
}

func (j judged) Threads(context.Context, int) ([]forge.Thread, error) {
	return []forge.Thread{{ID: "t", Path: j.text, Remarks: []forge.Remark{{ID: 1, Author: j.text, ByBot: true, Body: j.text}, {ID: 2, Author: "mallory", Body: j.text}}}}, nil
}

type half struct{ hosted.Git }

func (half) Touched(context.Context, string, string, []string) ([]string, string, error) {
	return nil, "", nil
}

func (half) PullRequest(context.Context, int) (forge.PullRequest, error) {
	return forge.PullRequest{Number: 1, Branch: "b", State: forge.Open}, nil
}

// Whatever strangers write anywhere on the forge: they order nothing, what is passed on is clean and bounded, and what we answer acts on nothing.
func TestStrangersOrderNothingAndNothingOfTheirsActs(t *testing.T) {
	t.Parallel()
	if len(forgetest.Hostile) < 60 {
		t.Fatalf("there are only %d texts", len(forgetest.Hostile))
	}
	dir := scratch(t)
	for _, text := range forgetest.Hostile {
		h := newHistory(t, must(os.MkdirTemp(dir, "")))
		h.looks()
		issue := h.world.issues[41]
		issue.Title, issue.Body, issue.Labels = text, text, []string{text}
		for _, by := range []string{"mallory", "mallory " + text, text + "[bot]"} {
			if got := h.says(by, text); strings.Contains(got, "obeyed") {
				t.Errorf("%.60q by %.60q: %s", text, by, got)
			}
		}
		h.world.label(41, "mallory", "signalbox")
		h.looks()
		if len(h.took[41]) > 0 {
			t.Errorf("%.60q: the runs took %q", text, h.took[41])
		}
		f := hosted.New(hosted.Config{Server: judged{h.world, text}, Git: half{}, Store: h.store})
		passed := []string{}
		r, err := f.Discussed(t.Context(), "41")
		if err != nil {
			t.Fatal(err)
		}
		passed = append(append(passed, r.Title, r.Body), r.Labels...)
		for _, s := range r.Said {
			passed = append(passed, s.Author, s.Body)
		}
		for _, a := range r.Attachments {
			passed = append(passed, a.Name, a.Address)
		}
		opinions, err := f.Opinions(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(opinions.ApprovedBy) > 0 {
			t.Errorf("%.60q: approved by %.60q", text, opinions.ApprovedBy)
		}
		for _, o := range opinions.Objections {
			passed = append(passed, o.By, o.Path, o.Text)
		}
		size := 0
		for _, p := range passed {
			if size += len(p); forgetest.Deceives(p) {
				t.Errorf("%.60q: %.60q is passed on", text, p)
			}
		}
		if strings.ContainsAny(r.Title, "\n\t") || size > 400_000 {
			t.Errorf("%.60q: the title is %.60q, and %d bytes are passed on", text, r.Title, size)
		}
		h.answers(text)
	}
}

// answers has people who may give orders write them with a stranger's text, and wants answers that act on nothing.
func (h *history) answers(text string) {
	h.t.Helper()
	for _, body := range []string{"/signalbox " + text, "/signalbox approve " + text, "/signalbox run " + text, "/signalbox answer " + text, "/signalbox reject " + text} {
		h.says("ada", body)
	}
	h.world.writers = append(h.world.writers, "ada "+text)
	h.says("ada "+text, "/signalbox resume")
	for _, r := range h.world.remarks[forge.OnIssue(41)] {
		if r.Author != me || text == me && !mark.MatchString(r.Body) {
			continue
		}
		shown := mark.ReplaceAllString(r.Body, "")
		if shown == r.Body || forgetest.Acts(shown) != "" || strings.Contains(shown, "<!--") || forgetest.Deceives(shown) || len(shown) > 2000 {
			h.t.Errorf("%.60q is answered with %.300q (%q)", text, r.Body, forgetest.Acts(shown))
		}
	}
}
