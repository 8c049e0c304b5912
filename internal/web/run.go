package web

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/forge"
	"signalbox/internal/language"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/redact/visible"
	"signalbox/internal/workflow"
)

// runView is what the page of a run shows, cleaned and redacted.
type runView struct {
	Title, Number, Project, Path, Request string
	// Run is nil before the first run of the request.
	Run                         *workflow.Run
	Description                 string
	State, Class, Doing, Holder string
	// Waits is when it goes on by itself.
	Waits                    *time.Time
	Interrupted, Unsandboxed bool
	Error                    *errorView
	Question                 *questionView
	Flags                    []string
	Failure                  string
	Orders                   []order
	Phases                   []phaseView
	Steps                    []stepView
	Evidence                 []evidenceView
	MoreEvidence             int
	SetUp                    *setUpView
	Use                      []fact
	Facts                    []fact
	Documents                []string
	Logs                     []string
	// Share is where a link to the run is made, by package access.
	Share  string
	Output outputView
}

type errorView struct{ Code, Title, Message string }

type questionView struct {
	ID, Run, Who, Tool, Text string
	Options                  []string
	Permission, Altered      bool
	Until                    time.Time
	Action                   string
}

type phaseView struct {
	Step, Doing, Status, Note string
	Began, Ended              *time.Time
	Took                      string
}

type stepView struct {
	ID, Title, Phase, Status, Summary, Test, Failed string
	Attempt, Files, Added, Deleted                  int
	Patch                                           string
}

type evidenceView struct {
	Purpose, Commit, Tree, Command, Took, Log string
	Passed                                    bool
	Known                                     []string
	At                                        time.Time
}

type setUpView struct {
	Name, Status, Class, Fingerprint, Source string
	Warm                                     bool
	Commands                                 []commandView
	Errors                                   []string
}

type commandView struct{ Command, Result, Took string }

// fact is a name and a value, which may be a link or a commit.
type fact struct {
	Name, Value, Href string
	Code              bool
	At                time.Time
}

// runParts are the parts of a run's page that change, by the names of their templates.
var runParts = []string{"run-head", "run-now", "run-track", "run-steps", "run-evidence", "run-setup", "run-facts"}

// shownEvidence is how many of the last tests a page shows.
const shownEvidence = 20

// standing is the run that the address names, and its request.
func (v *visit) standing(w *watched) (request string, at app.Standing, err error) {
	if request, err = w.requestOf(v.r.PathValue("run")); err != nil {
		return "", at, err
	}
	ctx := v.r.Context()
	latest, err := w.app.Store.LatestRun(ctx, request)
	if err != nil { // there is no run yet
		if !v.user.Sees("") {
			return request, at, errForbidden{}
		}
		return request, at, nil
	}
	if id := v.r.URL.Query().Get("run"); id != "" && id != latest.Ref.RunID {
		latest.Ref.RunID = id
		if latest.Run, latest.Err = w.app.Store.LoadRun(ctx, latest.Ref); latest.Err != nil {
			return request, at, &problem.Error{Code: problem.NotFound}
		}
	}
	if latest.Err != nil {
		return request, at, latest.Err
	}
	if !v.user.Sees(latest.Ref.RunID) {
		return request, at, errForbidden{}
	}
	at.Run = latest.Run
	at.Holder, at.Held, err = w.app.Held(ctx, request)
	at.Interrupted = at.Run.Interrupted() || at.Run.UnderWay() && !at.Held
	return request, at, err
}

// run is the page of a request and its run.
func (v *visit) run() (page, error) {
	w, left, err := v.project.look()
	if err != nil {
		return page{}, err
	}
	defer left()
	request, at, err := v.standing(w)
	if err != nil {
		return page{}, err
	}
	r := v.runView(w, request, at)
	p := page{Title: "#" + r.Number + " " + r.Title, Name: "board", Events: v.project.runPath(request) + "/events", Content: r}
	parts, err := v.parts(r)
	if err != nil {
		return page{}, err
	}
	if r.Run != nil {
		r.Logs, _ = w.app.Logs(workflow.RefOf(r.Run)).Names()
		pinned := v.r.URL.Query().Get("log")
		if !slices.Contains(r.Logs, pinned) {
			pinned = ""
		}
		r.Output = v.tail(w.app, r.Run, cmp.Or(pinned, newest(r.Logs)))
		r.Output.Pinned = pinned != ""
	}
	p.Content = struct {
		*runView
		Parts map[string]template.HTML
	}{r, parts}
	p.Last = runCursor(r, fingerprintOf(parts), r.Output.Log, r.Output.To)
	return p, nil
}

func newest(logs []string) string {
	if len(logs) == 0 {
		return ""
	}
	return logs[len(logs)-1]
}

// parts are the parts of the page that change.
func (v *visit) parts(r *runView) (map[string]template.HTML, error) {
	parts := map[string]template.HTML{}
	for _, name := range runParts {
		html, err := v.part(v.lang, "run", name, r)
		if err != nil {
			return nil, fmt.Errorf("show %s: %w", name, err)
		}
		parts[name] = html
	}
	return parts, nil
}

func fingerprintOf(parts map[string]template.HTML) string {
	h := fnv.New32a()
	for _, name := range runParts {
		_, _ = h.Write([]byte(parts[name]))
	}
	return strconv.FormatUint(uint64(h.Sum32()), 36)
}

// runCursor names what the page of a run shows: its transition, the parts, and how far which log was read.
func runCursor(r *runView, parts, log string, to int64) string {
	transition := 0
	if r.Run != nil {
		transition = r.Run.Details.Transition
	}
	return strings.Join([]string{strconv.Itoa(transition), parts, log, strconv.FormatInt(to, 10)}, "/")
}

// runView is the run in the visitor's language.
func (v *visit) runView(w *watched, request string, at app.Standing) *runView {
	p, l := w.app, v.lang
	view := &runView{Request: request, Project: v.project.name, Path: v.project.runPath(request)}
	if at.Run.RunID == "" {
		view.notBegun(v, w)
		return view
	}
	run := at.Run
	j := &run.Details
	view.Run, view.Title, view.Number = &run, line(p, run.Title, 200), run.Ref()
	view.State, view.Class, view.Interrupted, view.Unsandboxed = l.State(run.State), strings.ToLower(string(run.State)), at.Interrupted, j.Isolation == workflow.IsolationNone
	if at.Interrupted {
		view.Class = "interrupted"
	}
	view.Doing = v.doing(p, &run, at.Interrupted)
	if at.Held {
		view.Holder = line(p, app.Holder(at.Holder), 200)
	}
	view.Waits = j.ParkedUntil
	if e := run.Error; e != nil {
		view.Error = &errorView{line(p, e.ReasonCode, 80), line(p, e.Title, 400), redact.Cut(text(p, e.Message), 8000)}
	}
	if q := j.Question; q != nil && !at.Interrupted {
		view.Question = &questionView{ID: line(p, q.ID, 20), Run: run.RunID, Who: string(q.Role), Tool: line(p, q.Tool, 100), Text: text(p, q.Text), Permission: q.Kind == workflow.PermissionQuestion,
			Altered: q.Altered, Until: q.Until, Action: view.Path + "/orders"}
		for _, o := range q.Options {
			view.Question.Options = append(view.Question.Options, line(p, o, 400))
		}
	}
	if run.AsksForApproval() {
		for _, f := range j.Flags {
			view.Flags = append(view.Flags, line(p, f, 400))
		}
	}
	if run.State != workflow.Done {
		view.Failure = redact.Cut(text(p, j.Failure), 8000)
	}
	view.Orders = v.project.orders(l, p, &run, app.NextSteps(&run, at.Interrupted), false)
	if v.user.Only == "" {
		view.Share = "/account?" + url.Values{"run": {run.RunID}, "page": {view.Path}}.Encode()
	}
	view.phases(v, p)
	view.tests(v, p)
	view.facts(v, p)
	for _, name := range []string{"stage.json", "planning.json", "events.jsonl", "report.md", "errors.json"} {
		if f, err := p.Document(workflow.RefOf(&run), name); err == nil {
			_ = f.Close()
			view.Documents = append(view.Documents, name)
		}
	}
	return view
}

// notBegun shows a request without a run.
func (view *runView) notBegun(v *visit, w *watched) {
	request := forge.Request{ID: view.Request}
	if found, err := w.app.Forge.Request(v.r.Context(), view.Request); err == nil {
		request = found
	}
	view.Title, view.Number, view.Description = line(w.app, request.Title, 200), strconv.Itoa(request.Number), redact.Cut(text(w.app, request.Body), 64<<10)
	view.State, view.Class = v.Say("not-begun"), "new"
	if request.Closed {
		view.State, view.Class = v.lang.State(workflow.Done), "done"
		return
	}
	if n := w.unready; n != nil {
		view.Orders = []order{{Label: v.Say("unready") + ": " + strings.TrimSpace(n.What+"\n"+n.Hint)}}
		return
	}
	o := v.project.orderOf(v.lang, view.Request, string(workflow.VerbRun), nil, "order-run")
	o.Primary = true
	view.Orders = []order{o}
}

// doing says what the run does at this moment.
func (v *visit) doing(p *app.App, r *workflow.Run, interrupted bool) string {
	switch {
	case interrupted:
		return v.Say("interrupted")
	case r.Details.Question != nil:
		return line(p, r.Details.Question.Line1(), 400)
	case v.lang != language.English && (r.State == workflow.Running || r.Error != nil && r.Error.ReasonCode == workflow.ApprovalRequired):
		return v.lang.Doing(r.Details.Phase)
	case r.Error != nil:
		return line(p, r.Error.Title, 400)
	}
	return line(p, r.Progress.Message, 400)
}

func (view *runView) phases(v *visit, p *app.App) {
	r := view.Run
	for _, ph := range r.Details.Phases {
		x := phaseView{Step: string(ph.Step), Doing: v.lang.Doing(ph.Phase), Status: strings.ToLower(string(ph.Status)), Note: line(p, ph.Note, 400), Began: ph.StartedAt, Ended: ph.EndedAt}
		if ph.StartedAt != nil && ph.EndedAt != nil {
			x.Took = took(ph.EndedAt.Sub(*ph.StartedAt))
		}
		view.Phases = append(view.Phases, x)
	}
	for _, s := range r.Steps {
		x := stepView{ID: line(p, s.StepID, 20), Title: line(p, s.Title, 300), Phase: string(s.Phase), Status: strings.ToLower(string(s.Status)), Summary: line(p, s.Summary, 600), Test: line(p, s.Test.Words(), 60),
			Attempt: s.Attempt, Files: s.DiffStat.FilesChanged, Added: s.DiffStat.LinesAdded, Deleted: s.DiffStat.LinesDeleted}
		if s.Test.Unit.FailedSummary != nil {
			x.Failed = redact.Cut(text(p, *s.Test.Unit.FailedSummary), 4000)
		}
		if s.PatchPath != nil {
			x.Patch = path.Base(*s.PatchPath)
		}
		view.Steps = append(view.Steps, x)
	}
}

func (view *runView) tests(v *visit, p *app.App) {
	j := &view.Run.Details
	view.MoreEvidence = max(0, len(j.Evidence)-shownEvidence)
	for _, e := range slices.Backward(j.Evidence[view.MoreEvidence:]) {
		x := evidenceView{Purpose: line(p, e.Purpose, 60), Commit: line(p, e.Commit, 64), Tree: line(p, e.Tree, 64), Command: line(p, e.Command+e.Check, 400), Passed: e.Passed, At: e.At,
			Took: took(time.Duration(e.DurationMS) * time.Millisecond)}
		for _, k := range e.Known {
			x.Known = append(x.Known, line(p, k, 200))
		}
		if e.LogPath != "" {
			x.Log = path.Base(e.LogPath)
		}
		view.Evidence = append(view.Evidence, x)
	}
	s := j.SetUp
	if s == nil {
		return
	}
	view.SetUp = &setUpView{Name: line(p, s.Name, 100), Status: line(p, s.Status, 40), Class: line(p, string(s.Class), 40), Fingerprint: line(p, s.Fingerprint, 100), Source: line(p, s.Source, 40), Warm: s.Warm}
	ran := func(commands []string, done []workflow.CommandRun) {
		for i, c := range commands {
			x := commandView{Command: line(p, c, 1000)}
			if i < len(done) {
				x.Result, x.Took = v.Say("passed"), took(time.Duration(done[i].DurationMS)*time.Millisecond)
			}
			view.SetUp.Commands = append(view.SetUp.Commands, x)
		}
	}
	var checks []string
	for _, c := range s.Verification {
		checks = append(checks, c.Command)
	}
	ran(s.Commands, s.Ran)
	ran(checks, s.Verified)
	for _, e := range s.Errors {
		view.SetUp.Errors = append(view.SetUp.Errors, redact.Cut(text(p, e), 4000))
	}
}

func (view *runView) facts(v *visit, p *app.App) {
	r := view.Run
	j := &r.Details
	add := func(name, value string, code bool) {
		if value != "" {
			view.Facts = append(view.Facts, fact{Name: v.Say(name), Value: line(p, value, 300), Code: code})
		}
	}
	at := func(name string, t time.Time) {
		if !t.IsZero() {
			view.Facts = append(view.Facts, fact{Name: v.Say(name), At: t})
		}
	}
	add("branch", j.Branch, true)
	add("base", j.Base, true)
	add("head", j.Head, true)
	if pr := j.PullRequest; pr != nil {
		f := fact{Name: v.Say("pull-request"), Value: fmt.Sprintf("#%d", pr.Number)}
		if strings.HasPrefix(pr.URL, "https://") || strings.HasPrefix(pr.URL, "http://") {
			f.Href = pr.URL
		}
		view.Facts = append(view.Facts, f)
	}
	if a := j.Approval; a != nil {
		add("approved-by", a.By, false)
	}
	if x := j.Rejection; x != nil {
		add("rejected-by", x.String(), false)
	}
	add("environment", j.EnvID, true)
	add("isolation", j.Isolation, false)
	add("fingerprint", j.Fingerprint, true)
	add("run-id", r.RunID, true)
	at("began", r.StartedAt)
	at("updated", r.UpdatedAt)
	if r.EndedAt != nil {
		at("ended", *r.EndedAt)
	}
	u := r.SpentSoFar()
	use := func(name string, n int64) {
		view.Use = append(view.Use, fact{Name: v.Say(name), Value: thousands(n)})
	}
	use("input-tokens", u.InputTokens)
	use("cached-tokens", u.CachedTokens)
	use("output-tokens", u.OutputTokens)
	if u.CostMicroUSD > 0 {
		view.Use = append(view.Use, fact{Name: v.Say("money"), Value: fmt.Sprintf("$%.2f", float64(u.CostMicroUSD)/1e6)})
	}
	use("calls", int64(r.Counters.PlannerCalls+r.Counters.ImplementerCalls+r.Counters.QACalls+j.RepairCalls))
	use("test-runs", int64(r.Counters.UnitRuns+r.Counters.E2ERuns))
	var agents []string
	for _, a := range j.Assistants {
		agents = append(agents, line(p, strings.TrimSpace(string(a.Role)+": "+cmp.Or(a.Program, a.Agent)+" "+a.Model), 120))
	}
	if len(agents) > 0 {
		view.Use = append(view.Use, fact{Name: v.Say("agents"), Value: strings.Join(agents, ", ")})
	}
}

// took is a duration for people.
func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// thousands is a number with marks between its thousands.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// documents are the files of a run that are shown as they are, with their media types.
var documents = map[string]string{"stage.json": "application/json", "planning.json": "application/json", "errors.json": "application/json", "events.jsonl": "text/plain", "report.md": "text/plain"}

// maxDocument bounds a document, in bytes.
const maxDocument = 16 << 20

// document sends a document of the run as it is, without secrets.
func (v *visit) document() error {
	name := v.r.PathValue("document")
	media, known := documents[name]
	if !known {
		return &problem.Error{Code: problem.NotFound}
	}
	w, left, err := v.project.look()
	if err != nil {
		return err
	}
	defer left()
	_, at, err := v.standing(w)
	if err != nil {
		return err
	}
	file, err := w.app.Document(workflow.RefOf(&at.Run), name)
	if err != nil {
		return &problem.Error{Code: problem.NotFound}
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxDocument))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if media == "application/json" {
		data, err = visible.JSON(data, w.app.Redact)
	} else {
		data = []byte(text(w.app, string(data)))
	}
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", media+"; charset=utf-8")
	return v.write(http.StatusOK, data)
}
