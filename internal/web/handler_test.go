package web

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/access"
	"signalbox/internal/app"
	"signalbox/internal/app/apptest"
	"signalbox/internal/engine"
	"signalbox/internal/workflow"
)

// visitor is who asks for pages without a script.
type visitor struct {
	testing.TB
	http.Client
	at string
}

// visits serves a project's pages to a user.
func visits(t testing.TB, dir string, user access.User) *visitor {
	t.Helper()
	handler, err := New(t.Context(), Config{Projects: map[string]Open{"demo": opens(dir)}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(as(user, handler))
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	v := &visitor{TB: t, at: s.URL}
	v.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if v.Jar, err = cookiejar.New(nil); err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *visitor) asks(method, path, language string, form url.Values) (status int, body string, header http.Header) {
	v.Helper()
	r, err := http.NewRequestWithContext(v.Context(), method, v.at+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.Header.Set("Accept-Language", language)
	response, err := v.Do(r)
	if err != nil {
		v.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		v.Fatal(err)
	}
	return response.StatusCode, string(data), response.Header
}

// orders sends a form of the run's page.
func (v *visitor) orders(want int, form ...string) (body string) {
	v.Helper()
	fields := url.Values{}
	for i := 0; i < len(form); i += 2 {
		fields.Set(form[i], form[i+1])
	}
	status, body, header := v.asks(http.MethodPost, "/p/demo/runs/7/orders", "en", fields)
	if status != want || status == http.StatusSeeOther && header.Get("Location") != "/p/demo/runs/RQ-20260101-007" {
		v.Fatalf("%v is answered with %d to %s, want %d: %s", form, status, header.Get("Location"), want, body)
	}
	return body
}

// comes waits until the run of request 7 is in a state.
func comes(t testing.TB, p *app.App, state workflow.State) workflow.Run {
	t.Helper()
	at, err := p.Status(t.Context(), "7")
	for err == nil && at.Run.State != state {
		if at.Run.State.Ended() && !at.Held {
			t.Fatalf("the run is %s: %+v", at.Run.State, at.Run.Error)
		}
		at, err = p.Changed(t.Context(), "7", at.Run.Details.Transition)
	}
	if err != nil {
		t.Fatal(err)
	}
	return at.Run
}

func TestAnOrderIsGivenOnceAndByWhoMay(t *testing.T) {
	t.Parallel()
	dir := apptest.Make(t, apptest.Greeting)
	p := apptest.Open(t, dir)
	for _, refused := range []struct {
		user access.User
		verb string
	}{{access.User{}, "run"}, {access.User{Name: "eve", Role: access.Viewer}, "run"}, {access.User{Name: "eve", Role: access.Viewer}, "approve"}, {access.User{Name: "op", Role: access.Operator}, "approve"}} {
		visits(t, dir, refused.user).orders(http.StatusForbidden, "verb", refused.verb, "commit", "0123456789")
	}
	v := visits(t, dir, access.User{Name: "ada", Role: access.Approver})
	v.orders(http.StatusUnprocessableEntity, "verb", "teleport")
	twice := func(form ...string) {
		t.Helper()
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() { v.orders(http.StatusSeeOther, form...) })
		}
		both.Wait()
	}
	twice("verb", "run")
	run := comes(t, p, workflow.NeedsInput)
	at := strconv.Itoa(run.Details.Transition)
	v.orders(http.StatusConflict, "verb", "reject", "run", run.RunID, "at", "1", "text", "late")
	v.orders(http.StatusUnprocessableEntity, "verb", "reject", "run", run.RunID, "at", at)
	v.orders(http.StatusUnprocessableEntity, "verb", "approve", "run", run.RunID, "commit", "0123456")
	v.orders(http.StatusConflict, "verb", "approve", "run", "20250101-000000-aaaaaa", "commit", run.Details.Head)
	twice("verb", "reject", "run", run.RunID, "at", at, "text", "Say it twice.")
	again := comes(t, p, workflow.NeedsInput)
	for again.Details.Rejection == nil || !again.AsksForApproval() {
		next, err := p.Changed(t.Context(), "7", again.Details.Transition)
		if err != nil {
			t.Fatal(err)
		}
		again = next.Run
	}
	if x := again.Details.Rejection; x.Reason != "Say it twice." || !strings.HasSuffix(x.By, " through the web page as ada") || len(x.Earlier) != 0 {
		t.Errorf("it was sent back with %+v", x)
	}
	_, shown, _ := v.asks(http.MethodGet, "/p/demo/runs/7", "en", nil)
	if !strings.Contains(shown, again.Details.Head) {
		t.Errorf("the page doesn't name the commit to approve: %s", shown)
	}
	twice("verb", "cancel", "run", run.RunID, "at", at)
	comes(t, p, workflow.Canceled)
	if _, body, _ := v.asks(http.MethodGet, "/p/demo/runs/7/documents/events.jsonl", "en", nil); strings.Count(body, `"Rejected"`) != 1 || strings.Count(body, `"StopOrdered"`) > 1 {
		t.Errorf("the run's history is %s", body)
	}
}

// A question is answered once, by who may; what an agent asks permission for is an approver's to allow.
func TestAQuestionIsAnsweredFromItsForm(t *testing.T) {
	t.Parallel()
	dir := apptest.Make(t, apptest.Greeting)
	p := apptest.Open(t, dir)
	asking := runOf(t, p, 7, "Ask")
	lock, err := p.Store.LockRequest(t.Context(), asking.RequestID, engine.Owner{Name: "run"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Release() }()
	now := time.Now().UTC()
	save(t, p, &asking, func(r *workflow.Run) {
		r.State, r.EndedAt, r.Error = workflow.Running, nil, nil
		r.Details.Question = &workflow.Question{ID: "Q1", Role: workflow.Implementer, Kind: workflow.PermissionQuestion, Tool: "Bash", Text: "rm -r old", AskedAt: now, Until: now.Add(time.Hour)}
	})
	path := "/p/demo/runs/" + asking.RequestID
	allow := url.Values{"verb": {"answer"}, "run": {asking.RunID}, "question": {"Q1"}, "verdict": {"allow"}}
	operator := visits(t, dir, access.User{Name: "op", Role: access.Operator})
	if _, body, _ := operator.asks(http.MethodGet, path, "en", nil); !strings.Contains(body, "rm -r old") || !strings.Contains(body, `name="run" value="`+asking.RunID+`"><input type="hidden" name="question" value="Q1"`) {
		t.Errorf("the page doesn't ask: %s", body)
	}
	if status, _, _ := operator.asks(http.MethodPost, path+"/orders", "en", allow); status != http.StatusForbidden {
		t.Errorf("an operator allows it: %d", status)
	}
	ada := visits(t, dir, access.User{Name: "ada", Role: access.Approver})
	if status, _, _ := ada.asks(http.MethodPost, path+"/orders", "en", url.Values{"verb": {"answer"}, "run": {asking.RunID}, "question": {"Q2"}, "verdict": {"allow"}}); status != http.StatusUnprocessableEntity {
		t.Errorf("another question is answered: %d", status)
	}
	for _, form := range []url.Values{ // of the run before this one, whose numbers are the same
		{"verb": {"answer"}, "run": {"20260101-000000-aaaaaa"}, "question": {"Q1"}, "verdict": {"allow"}}, {"verb": {"answer"}, "question": {"Q1"}, "verdict": {"allow"}},
		{"verb": {"cancel"}, "run": {"20260101-000000-aaaaaa"}, "at": {strconv.Itoa(asking.Details.Transition)}},
		{"verb": {"stop"}, "run": {"20260101-000000-aaaaaa"}, "at": {strconv.Itoa(asking.Details.Transition)}},
		{"verb": {"reject"}, "run": {asking.RunID}, "at": {"1"}, "text": {"late"}}, // its words would be lost
	} {
		if status, body, _ := ada.asks(http.MethodPost, path+"/orders", "en", form); status != http.StatusConflict {
			t.Errorf("%v is answered with %d: %s", form, status, body)
		}
	}
	if now, err := p.Store.LoadRun(t.Context(), workflow.RefOf(&asking)); err != nil || now.Signals.StopRequested || len(now.Signals.Commands) > 0 {
		t.Errorf("a form of an earlier run left %+v, %v", now.Signals, err)
	}
	changes, err := p.Store.WatchRun(t.Context(), workflow.RefOf(&asking))
	if err != nil {
		t.Fatal(err)
	}
	var answers sync.WaitGroup
	for range 2 {
		answers.Go(func() {
			if status, body, _ := ada.asks(http.MethodPost, path+"/orders", "en", allow); status != http.StatusSeeOther {
				t.Errorf("the answer is %d: %s", status, body)
			}
		})
	}
	for len(asking.Signals.Commands) == 0 { // the process that runs it takes the answer
		<-changes
		if asking, err = p.Store.LoadRun(t.Context(), workflow.RefOf(&asking)); err != nil {
			t.Fatal(err)
		}
	}
	taken := asking.Signals.Commands[0].Answer
	save(t, p, &asking, func(r *workflow.Run) {
		r.Signals.Commands, r.Details.Answer, r.Details.Question = nil, taken, nil
	})
	answers.Wait()
	if after, err := p.Store.LoadRun(t.Context(), workflow.RefOf(&asking)); err != nil || len(after.Signals.Commands) != 0 || after.Details.Answer.By == "" || after.Details.Answer.Verdict != workflow.AnswerAllow {
		t.Errorf("what is left is %+v, %v", after.Signals, err)
	}
}

func TestAPageSpeaksTheLanguageOfItsReader(t *testing.T) {
	t.Parallel()
	v := visits(t, apptest.Make(t, apptest.Greeting), access.User{Name: "ada", Role: access.Viewer})
	for accepts, want := range map[string]string{"ja,en;q=0.5": `lang="ja"`, "fr, ja-JP;q=0.3": `lang="ja"`, "": `lang="en"`, "en-GB, ja": `lang="en"`} {
		if status, body, _ := v.asks(http.MethodGet, "/p/demo/", accepts, nil); status != http.StatusOK || !strings.Contains(body, `<html `+want) {
			t.Errorf("with %q it is %d without %s", accepts, status, want)
		}
	}
	for back, want := range map[string]string{"/p/demo/?q=x": "/p/demo/?q=x", "//evil.example/": "/", "https://evil.example/": "/", `/\evil.example`: "/", "x": "/"} {
		if _, _, header := v.asks(http.MethodPost, "/language", "en", url.Values{"to": {"ja"}, "back": {back}}); header.Get("Location") != want {
			t.Errorf("back to %q leads to %q", back, header.Get("Location"))
		}
	}
	if _, body, _ := v.asks(http.MethodGet, "/p/demo/", "en", nil); !strings.Contains(body, `<html lang="ja">`) || !strings.Contains(body, "待機中") {
		t.Error("the chosen language is forgotten")
	}
	for _, path := range []string{"/p/other/", "/p/demo/runs/99", "/p/demo/runs/7/documents/..%2fstage.json", "/p/demo/runs/7/log/..%2fstage.json", "/nothing"} {
		if status, _, _ := v.asks(http.MethodGet, path, "en", nil); status != http.StatusNotFound {
			t.Errorf("%s answers %d", path, status)
		}
	}
}

func TestOneBoardShowsAllProjects(t *testing.T) {
	t.Parallel()
	handler, err := New(t.Context(), Config{Projects: map[string]Open{"site": opens(apptest.Make(t, apptest.Greeting)), "parser": opens(apptest.Make(t, apptest.Greeting))}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	link := httptest.NewRecorder() // its page has no run yet, so that none is the link's
	as(access.User{Name: "share link", Role: access.Viewer, Only: "20260101-000000-aaaaaa"}, handler).ServeHTTP(link, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/p/site/runs/7", nil))
	if link.Code != http.StatusForbidden || strings.Contains(link.Body.String(), "Greet") {
		t.Errorf("a link to another run shows a request: %d", link.Code)
	}
	for path, want := range map[string][2]int{"/": {1, 1}, "/p/site/": {1, 0}, "/p/parser/": {0, 1}, "/?q=nothing": {0, 0}, "/?q=greet+%237": {1, 1}} {
		w := httptest.NewRecorder()
		as(access.User{Name: "ada", Role: access.Viewer}, handler).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		body := w.Body.String()
		if got := [2]int{strings.Count(body, `id="c.site.`), strings.Count(body, `id="c.parser.`)}; got != want {
			t.Errorf("%s shows %v, want %v", path, got, want)
		}
	}
}

func TestABoardSaysWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	broken, withheld := apptest.Make(t, apptest.Greeting), apptest.Make(t, apptest.Greeting)
	if err := os.WriteFile(filepath.Join(broken, ".signalbox", "config.yaml"), []byte("tests: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	untrusted := func(ctx context.Context) (context.Context, *app.App, func(), error) {
		o := apptest.Opener(withheld)
		o.Overrides.Trust = false
		p, err := app.Open(ctx, o)
		if err != nil {
			return ctx, nil, nil, err
		}
		return ctx, p, func() { _ = p.Store.Close() }, nil
	}
	handler, err := New(t.Context(), Config{Projects: map[string]Open{"broken": opens(broken), "gone": opens(t.TempDir()), "untrusted": untrusted}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	as(access.User{Name: "ada", Role: access.Operator}, handler).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	body := w.Body.String()
	for _, want := range []string{"broken: Nothing can be run", "gone: Nothing can be run", "untrusted: Nothing can be run", "signalbox trust", `id="c.untrusted.`} {
		if !strings.Contains(body, want) {
			t.Errorf("the board has no %q", want)
		}
	}
	id := regexp.MustCompile(`/p/untrusted/runs/[^"]+`).FindString(body)
	w = httptest.NewRecorder()
	as(access.User{Name: "ada", Role: access.Operator}, handler).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, id, nil))
	if page := w.Body.String(); !strings.Contains(page, "signalbox trust") || !strings.Contains(page, `id="run-steps" hidden`) || strings.Contains(body+page, `value="run"`) {
		t.Errorf("the request's page is %s", page)
	}
	if t.Failed() {
		t.Log(body)
	}
}

// ended is the kind of which a stream has no event: what it sends until its end is the data.
const ended = ""

// events opens a stream of events, and returns what reads the next one of a kind.
func (v *visitor) events(path string) (next func(kind string) (id, data string), end func()) {
	v.Helper()
	response, err := v.Get(v.at + path)
	if err != nil {
		v.Fatal(err)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	return func(kind string) (id, data string) {
		v.Helper()
		for is := ""; lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "event":
				is, id = value, ""
			case "id":
				id = value
			case "data":
				if is == kind || kind == ended && is != "log" {
					return id, value
				}
			}
		}
		if kind == ended && lines.Err() == nil {
			return "", ""
		}
		v.Fatalf("the stream ended: %v", lines.Err())
		return "", ""
	}, func() { _ = response.Body.Close() }
}

// A page that was cut is sent what changed since, and no more, by a server that knows nothing of it.
func TestAPageThatComesBackMissesNothing(t *testing.T) {
	t.Parallel()
	dir := apptest.Make(t, apptest.Greeting)
	p := apptest.Open(t, dir)
	runs := []workflow.Run{runOf(t, p, 101, "first"), runOf(t, p, 102, "second"), runOf(t, p, 103, "third")}
	for i := range runs { // one after the other
		save(t, p, &runs[i], func(r *workflow.Run) { r.UpdatedAt = r.UpdatedAt.Add(time.Duration(i) * 2 * overlap) })
	}
	v := visits(t, dir, access.User{Name: "ada", Role: access.Viewer})
	next, cut := v.events("/p/demo/events")
	id, data := next("board")
	for _, want := range []string{"RQ-20260101-007", "first", "second", "third"} {
		if !strings.Contains(data, want) {
			t.Errorf("the first event lacks %s: %s", want, data)
		}
	}
	cut()
	save(t, p, &runs[1], func(r *workflow.Run) { r.UpdatedAt, r.Error.Title = r.UpdatedAt.Add(10*overlap), "changed meanwhile" })
	other := visits(t, dir, access.User{Name: "ada", Role: access.Viewer})
	next, cut = other.events("/p/demo/events?last=" + id)
	defer cut()
	if newer, data := next("board"); newer == id || !strings.Contains(data, "changed meanwhile") || strings.Contains(data, "first") || !strings.Contains(data, "c.demo.RQ-20260102-103") {
		t.Errorf("after %s comes %s: %s", id, newer, data)
	}
	save(t, p, &runs[2], func(r *workflow.Run) { r.Error.Title = "changed at last" })
	if _, data := next("board"); !strings.Contains(data, "changed at last") || strings.Contains(data, "changed meanwhile") {
		t.Errorf("the change comes as %s", data)
	}
}

// save changes a run as its process does.
func save(t testing.TB, p *app.App, run *workflow.Run, change func(*workflow.Run)) {
	t.Helper()
	writer, now, err := p.Store.OpenRun(t.Context(), workflow.RefOf(run))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writer.Close() }()
	change(&now)
	now.Details.Transition++
	if err := writer.Save(t.Context(), &now, "Stopped"); err != nil {
		t.Fatal(fmt.Errorf("save %s: %w", now.RunID, err))
	}
	*run = now
}
