package web_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"signalbox/internal/access"
	"signalbox/internal/app"
	"signalbox/internal/app/apptest"
	"signalbox/internal/app/background"
	"signalbox/internal/web"
	"signalbox/internal/workflow"
)

// visitor looks at the pages of a project as a user with a role.
type visitor struct {
	testing.TB
	*app.App
	pages http.Handler
	role  access.Role
}

// visits opens a project with what its agent does, and its pages.
func visits(t *testing.T, files map[string]string) *visitor {
	t.Helper()
	dir := apptest.Make(t, files)
	open := func(ctx context.Context) (context.Context, *app.App, func(), error) {
		return ctx, apptest.Open(t, dir), func() {}, nil
	}
	pages, err := web.New(t.Context(), web.Config{Projects: map[string]web.Open{"it": open}, Starter: background.Starter{Program: "/bin/true"}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t, apptest.Open(t, dir), pages, access.Approver}
}

// asks sends a request and returns the answer's status and text.
func (v *visitor) asks(method, path string, form url.Values) (int, string) {
	v.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Signalbox-Script", map[bool]string{true: "1"}[method == http.MethodPost])
	r = r.WithContext(access.With(v.Context(), access.User{Name: "ada", Role: v.role}))
	w := httptest.NewRecorder()
	v.pages.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Body)
	if err != nil {
		v.Fatal(err)
	}
	return w.Code, string(body)
}

// sees wants a page with some texts, and without others, which have a "!" in front.
func (v *visitor) sees(path string, texts ...string) string {
	v.Helper()
	status, body := v.asks(http.MethodGet, path, nil)
	if status != http.StatusOK {
		v.Errorf("%s: %d %s", path, status, body[max(0, len(body)-900):])
	}
	for _, text := range texts {
		if without, not := strings.CutPrefix(text, "!"); not == strings.Contains(body, without) {
			v.Errorf("%s: is %q there: %v", path, without, not)
		}
	}
	return body
}

const hostile = `<img src=x onerror=alert(1)>`

func TestTheChangeOfARun(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for name, content := range apptest.Greeting {
		files[name] = content
	}
	files["long.txt"] = strings.Repeat("a line\n", 10)
	files["agent.sh"] = "cat >/dev/null\nif [ -e '" + hostile + "' ]; then echo again >again.txt; else\necho 'hello world' >greeting.txt\n" +
		"printf '</td><script>alert(2)</script>\\n\\033[31mred\\n' >'" + hostile + "'\nmv long.txt short.txt\nfi\n"
	v := visits(t, files)
	if status, _ := v.asks(http.MethodGet, "/p/it/runs/7/diff", nil); status != http.StatusNotFound {
		t.Errorf("the change of a request without a run: %d", status)
	}
	done, err := v.StartRuns(t.Context(), []string{"7"}, func(*app.App) func(workflow.Run) { return func(workflow.Run) {} })
	if err != nil {
		t.Fatal(err)
	}
	run := done[0].Run
	head := run.Details.Head

	const diff = "/p/it/runs/7/diff"
	split := v.sees(diff, "&lt;img src=x onerror=alert(1)&gt;", "!<img src=x", "!<script>alert", "&lt;/td&gt;&lt;script&gt;alert(2)", "!\x1b", "red", "hello<b> world</b>",
		"<bdi>long.txt</bdi> → <bdi>short.txt</bdi>", "renamed", `action="/p/it/runs/RQ-20260101-007/review"`, head)
	if strings.Count(split, `class="c old"`) != 1 || strings.Count(split, `class="c none"`) == 0 {
		t.Errorf("side by side it is %s", split)
	}
	v.sees(diff+"?view=unified", `<td class="n old" data-o="1">1</td>`, `<td class="n new" data-n="1">1</td><td class="c new">hello<b> world</b>`, "!class=\"c none\"")
	v.sees(diff+"?step=S01", "hello<b> world</b>", "!/review")
	v.sees(diff+"?file=greeting.txt", "greeting.txt", "!<script>", "!short.txt")
	if status, _ := v.asks(http.MethodGet, diff+"?step=../../x", nil); status == http.StatusOK {
		t.Error("there is a step of any name")
	}

	form := url.Values{"head": {head}, "at": {"1"}, "text": {"Not yet."}, "comments": {`[{"path":"greeting.txt","line":1,"text":"say <b>whom</b>"},{"path":"greeting.txt","old":true,"line":1,"text":"keep"}]`}}
	review := func(change string, values ...string) (int, string) {
		f := url.Values{}
		for k := range form {
			f[k] = form[k]
		}
		f[change] = values
		return v.asks(http.MethodPost, "/p/it/runs/7/review", f)
	}
	for change, value := range map[string]string{"head": strings.Repeat("0", 40), "at": "1", "comments": `[{"path":"greeting.txt","line":2,"text":"x"}]`} {
		if status, said := review(change, value); status == http.StatusOK {
			t.Errorf("with %s %s it says %s", change, value, said)
		}
	}
	v.role = access.Viewer
	if status, _ := v.asks(http.MethodPost, "/p/it/runs/7/review", form); status != http.StatusForbidden {
		t.Errorf("a viewer sends it back: %d", status)
	}
	now, err := v.Store.LoadRun(t.Context(), workflow.RefOf(&run))
	if err != nil || now.Details.Transition != run.Details.Transition || len(now.Signals.Commands) > 0 {
		t.Errorf("a refused review moved the run: %v, %+v", err, now.Signals)
	}

	v.role = access.Operator
	if status, said := review("at", strconv.Itoa(run.Details.Transition)); status != http.StatusOK {
		t.Errorf("it isn't sent back: %d %s", status, said)
	}
	now, err = v.Store.LoadRun(t.Context(), workflow.RefOf(&run))
	want := "Not yet.\n\ngreeting.txt, line 1 before the change (removed)\n> hello\nkeep\n\ngreeting.txt:1\n> hello world\nsay <b>whom</b>"
	if left := now.Signals.Commands; err != nil || len(left) != 1 || left[0].Kind != workflow.CommandReject || left[0].Text != want || !strings.HasSuffix(left[0].By, "through the web page as ada") {
		t.Errorf("the order is %+v (%v)", left, err)
	}
}
