package web

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"signalbox/internal/access"
	"signalbox/internal/app"
	"signalbox/internal/app/apptest"
	"signalbox/internal/workflow"
)

// sees wants a page with some texts, and without others, which have a "!" in front.
func (v *visitor) sees(path string, texts ...string) string {
	v.Helper()
	status, body, _ := v.asks(http.MethodGet, path, "en", nil)
	if status != http.StatusOK {
		v.Errorf("%s: %d %s", path, status, body)
	}
	for _, text := range texts {
		if without, not := strings.CutPrefix(text, "!"); not == strings.Contains(body, without) {
			v.Errorf("%s: is %q there: %v", path, without, not)
		}
	}
	return body
}

// posts sends a form, and wants an answer of this status.
func (v *visitor) posts(want int, path string, form url.Values) string {
	v.Helper()
	status, body, _ := v.asks(http.MethodPost, path, "en", form)
	if status != want {
		v.Errorf("%s with %v is answered with %d, not %d: %s", path, form, status, want, body)
	}
	return body
}

// waits carries request 7 to its approval.
func waits(t testing.TB, p *app.App) workflow.Run {
	t.Helper()
	done, err := p.StartRuns(t.Context(), []string{"7"}, func(*app.App) func(workflow.Run) { return func(workflow.Run) {} })
	if err != nil || done[0].Run.State != workflow.NeedsInput {
		t.Fatal(done, err)
	}
	return done[0].Run
}

// image would be loaded by a page that took a text for HTML; imageText is how it is shown.
const (
	image     = `<img src=x onerror=alert(1)>`
	imageText = "&lt;img src=x onerror=alert(1)&gt;"
)

// changes is a project whose agent renames a file and makes one with a hostile name and content. When it is called again, it adds one more.
func changes() map[string]string {
	files := maps.Clone(apptest.Greeting)
	files["long.txt"] = strings.Repeat("a line\n", 10)
	files["agent.sh"] = "cat >/dev/null\nif [ -e '" + image + "' ]; then echo again >again.txt; else\necho 'hello world' >greeting.txt\n" +
		"printf '</td><script>alert(2)</script>\\n\\033[31mred\\n' >'" + image + "'\nmv long.txt short.txt\nfi\n"
	return files
}

func TestAChangeIsReadAndSentBack(t *testing.T) {
	t.Parallel()
	dir := apptest.Make(t, changes())
	p := apptest.Open(t, dir)
	v := visits(t, dir, access.User{Name: "ada", Role: access.Operator})
	const diff, review = "/p/demo/runs/7/diff", "/p/demo/runs/7/review"
	if status, _, _ := v.asks(http.MethodGet, diff, "en", nil); status != http.StatusNotFound {
		t.Errorf("the change of a request without a run: %d", status)
	}
	run := waits(t, p)
	head := run.Details.Head
	split := v.sees(diff, imageText, "!<img src=x", "!<script>alert", "&lt;/td&gt;&lt;script&gt;alert(2)", "!\x1b", "red", "hello<b> world</b>",
		"<bdi>long.txt</bdi> → <bdi>short.txt</bdi>", "renamed", `action="/p/demo/runs/RQ-20260101-007/review"`, head)
	if strings.Count(split, `class="c old"`) != 1 || strings.Count(split, `class="c none"`) == 0 {
		t.Errorf("side by side it is %s", split)
	}
	v.sees(diff+"?view=unified", `<td class="n old" data-o="1">1</td>`, `<td class="n new" data-n="1">1</td><td class="c new">hello<b> world</b>`, "!class=\"c none\"")
	v.sees(diff+"?step=S01", "hello<b> world</b>", "!/review")
	v.sees(diff+"?file=greeting.txt", "greeting.txt", "!<script>alert", "!short.txt")
	if status, _, _ := v.asks(http.MethodGet, diff+"?step=../../x", "en", nil); status == http.StatusOK {
		t.Error("there is a step of any name")
	}

	form := url.Values{"head": {head}, "run": {run.RunID}, "at": {strconv.Itoa(run.Details.Transition)}, "text": {"Not yet."},
		"comments": {`[{"path":"greeting.txt","line":1,"text":"say <b>whom</b>"},{"path":"greeting.txt","old":true,"line":1,"text":"keep"}]`}}
	with := func(field, value string) url.Values {
		other := maps.Clone(form)
		other[field] = []string{value}
		return other
	}
	v.posts(http.StatusConflict, review, with("head", strings.Repeat("0", 40)))
	v.posts(http.StatusConflict, review, with("at", "1"))
	v.posts(http.StatusUnprocessableEntity, review, with("comments", `[{"path":"greeting.txt","line":2,"text":"x"}]`))
	v.posts(http.StatusUnprocessableEntity, review, with("comments", `[{`))
	visits(t, dir, access.User{Name: "eve", Role: access.Viewer}).posts(http.StatusForbidden, review, form)
	now, err := p.Store.LoadRun(t.Context(), workflow.RefOf(&run))
	if err != nil || now.Details.Transition != run.Details.Transition || len(now.Signals.Commands) > 0 {
		t.Errorf("a refused review moved the run: %v, %+v", err, now.Signals)
	}

	v.posts(http.StatusSeeOther, review, form)
	for now.Details.Rejection == nil || now.State != workflow.NeedsInput {
		at, err := p.Changed(t.Context(), "7", now.Details.Transition)
		if err != nil {
			t.Fatal(err)
		}
		now = at.Run
	}
	want := "Not yet.\n\ngreeting.txt, line 1 before the change (removed)\n> hello\nkeep\n\ngreeting.txt:1\n> hello world\nsay <b>whom</b>"
	if r := now.Details.Rejection; r.Reason != want || r.Commit != head || !strings.HasSuffix(r.By, " through the web page as ada") {
		t.Errorf("it was sent back with %+v", r)
	}
	v.sees(diff, "again.txt", ">R01<")
}
