package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/app/cost"
	"signalbox/internal/app/environments"
	"signalbox/internal/app/healing"
	"signalbox/internal/app/history"
	"signalbox/internal/app/sessions"
	"signalbox/internal/health"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// listView is a page that mostly has tables.
type listView struct {
	Title, Lead string
	// Crumb leads back.
	Crumb    cell
	Choices  []cell
	Facts    []fact
	Sections []section
	// Slider is set on the page of a run's history.
	Slider *slider
	// Output is a program's, as text.
	Output string
}

type section struct {
	Name, Lead, Empty string
	Columns           []string
	Rows              [][]cell
	Orders            []order
}

// Numeric reports whether a column has numbers.
func (s section) Numeric(column int) bool {
	return len(s.Rows) > 0 && s.Rows[0][column].Class == "number"
}

// cell is a text of a table. Class is "number", "code", or that of a badge.
type cell struct {
	Text, Href, Class string
	Current           bool
	At                time.Time
	Orders            []order
}

type slider struct{ At, Last, Next, Before int }

func number(n int64) cell { return cell{Text: thousands(n), Class: "number"} }

// whole opens the visit's project, for those who may see all of it.
func (v *visit) whole() (*watched, func(), error) {
	if v.user.Only != "" {
		return nil, nil, errForbidden{}
	}
	return v.project.look()
}

// says are texts by their names, for the columns of a table.
func (v *visit) says(names string) (said []string) {
	for name := range strings.FieldsSeq(names) {
		said = append(said, v.Say(name))
	}
	return said
}

// costs shows what agents used, in one of four ways.
func (v *visit) costs() (page, error) {
	w, left, err := v.whole()
	if err != nil {
		return page{}, err
	}
	defer left()
	by, err := cost.Of(cmp.Or(v.r.URL.Query().Get("by"), string(cost.ByDay)))
	if err != nil {
		return page{}, &problem.Error{Err: err, Code: problem.Usage}
	}
	c, err := cost.Read(v.r.Context(), w.app, by)
	if err != nil {
		return page{}, err
	}
	view := listView{Title: v.Say("cost"), Lead: v.Say("cost-what")}
	for _, way := range cost.Ways {
		view.Choices = append(view.Choices, cell{Text: v.Say("by-" + string(way)), Href: "?by=" + string(way), Current: way == by})
	}
	table := section{Empty: v.Say("no-cost"), Columns: append(v.says("by-"+string(by)), v.says("runs calls input-tokens cached-tokens output-tokens money")...)}
	row := func(name cell, r *cost.Row) []cell {
		return []cell{name, number(int64(r.Runs)), number(int64(r.Calls)), number(r.InputTokens), number(r.CachedTokens), number(r.OutputTokens), {Text: r.Dollars(), Class: "number"}}
	}
	for i := range c.Rows {
		r := &c.Rows[i]
		name := cell{Text: line(w.app, cmp.Or(r.Key, v.Say("unknown")), 200)}
		if by == cost.ByRequest {
			name = cell{Text: "#" + r.Key + " " + line(w.app, r.Title, 120), Href: v.project.runPath(r.Key)}
		}
		table.Rows = append(table.Rows, row(name, r))
	}
	if len(c.Rows) > 1 {
		table.Rows = append(table.Rows, row(cell{Text: v.Say("in-all"), Class: "sum"}, &c.Total))
	}
	view.Sections = []section{table}
	if c.Unreadable > 0 {
		view.Lead += " " + v.Say("unreadable-runs", c.Unreadable)
	}
	return page{Title: view.Title, Name: "cost", Content: &view, With: "list"}, nil
}

// environments shows all environments, what blocks some of them, and what a cleanup would remove.
func (v *visit) environments() (page, error) {
	w, left, err := v.whole()
	if err != nil {
		return page{}, err
	}
	defer left()
	all, err := environments.Open(v.r.Context(), w.app.Opener, true)
	if err != nil {
		return page{}, err
	}
	defer func() { _ = all.Close() }()
	blocked := section{Name: v.Say("blocked"), Empty: v.Say("none-blocked"), Columns: v.says("request reason what suggested since")}
	for _, b := range all.BlockedReport() {
		blocked.Rows = append(blocked.Rows, []cell{v.requestCell(b.IssueNumber), {Text: line(w.app, string(b.Reason), 60), Class: "code"},
			{Text: line(w.app, b.Description, 600)}, {Text: line(w.app, b.SuggestedAction, 400)}, {At: b.BlockedAt}})
	}
	list := section{Name: v.Say("environments"), Empty: v.Say("no-environments"), Columns: v.says("environment request state phase branch last-used remove")}
	for _, e := range all.Environments.Environments {
		id := line(w.app, e.EnvID, 120)
		remove := order{Verb: "remove", Label: v.Say("remove"), Action: v.path("environments"), Role: "operates", Danger: true, Sure: v.Say("sure-remove", id),
			Fields: []field{{"remove", e.EnvID}}}
		list.Rows = append(list.Rows, []cell{{Text: id, Class: "code"}, v.requestCell(e.IssueNumber), {Text: string(e.Status), Class: "badge " + environmentClass[e.Status]},
			{Text: line(w.app, string(e.Step), 40)}, {Text: line(w.app, e.Branch, 120), Class: "code"}, {At: e.LastUsedAt}, {Orders: []order{remove}}})
	}
	clear := section{Name: v.Say("clean-up"), Lead: v.Say("clean-up-what"), Empty: v.Say("nothing-to-clean"), Columns: v.says("environment request state why lost")}
	sure := order{Verb: "clean", Label: v.Say("clean-up-now"), Action: v.path("environments"), Role: "operates", Danger: true}
	all.CleanUp(v.r.Context(), true, nil, func(c environments.Cleared, err error) {
		lost := v.Say("lost-nothing")
		switch {
		case err != nil:
			lost = line(w.app, err.Error(), 300)
		case c.Verdict == registry.ClearReview:
			lost = v.Say("look-yourself")
		case c.Unproven != "":
			lost = line(w.app, c.Unproven, 300)
		}
		if err == nil && c.Verdict == registry.ClearDelete {
			sure.Fields = append(sure.Fields, field{"clean", c.EnvID})
		}
		clear.Rows = append(clear.Rows, []cell{{Text: line(w.app, c.EnvID, 120), Class: "code"}, v.requestCell(c.IssueNumber), {Text: string(c.Status)}, {Text: line(w.app, c.Why, 200)}, {Text: lost}})
	})
	if n := len(sure.Fields); n > 0 {
		sure.Sure = v.Say("sure-clean-up", n)
		clear.Orders = []order{sure}
	}
	return page{Title: list.Name, Name: "environments", With: "list", Content: &listView{Title: list.Name, Sections: []section{blocked, list, clear}}}, nil
}

var environmentClass = map[registry.EnvironmentStatus]string{registry.EnvironmentActive: "running", registry.EnvironmentBlocked: "warn", registry.EnvironmentPRCreated: "running",
	registry.EnvironmentMerged: "done", registry.EnvironmentAbandoned: ""}

func (v *visit) requestCell(n int) cell {
	return cell{Text: "#" + strconv.Itoa(n), Href: v.project.runPath(strconv.Itoa(n))}
}

// removeEnvironments removes the environment that a form names, or cleans up those that it showed.
func (v *visit) removeEnvironments() (said, then string, err error) {
	if v.user.Only != "" {
		return "", "", errForbidden{}
	}
	ctx := context.WithoutCancel(v.r.Context()) // a removal that was begun is completed
	ctx, p, closeProject, err := v.project.open(ctx)
	if err != nil {
		return "", "", err
	}
	defer closeProject()
	all, err := environments.Open(ctx, p.Opener, false)
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, all.Close()) }()
	form := v.r.PostForm
	agreed := form["clean"]
	removed := 0
	err = v.audited(actOn("remove environment", form.Get("remove")+strings.Join(agreed, " ")), func() error {
		if id := form.Get("remove"); id != "" {
			one, err := all.Remove(ctx, id, false)
			if err == nil {
				removed++
				said = v.Say("removed", line(p, one.EnvID, 120))
			}
			return err
		}
		var problems []error
		all.CleanUp(ctx, len(agreed) == 0, func(_ context.Context, c *environments.Cleared) (bool, error) {
			return slices.Contains(agreed, c.EnvID), nil
		}, func(c environments.Cleared, err error) {
			problems = append(problems, err)
			if c.Done == environments.Deleted {
				removed++
			}
		})
		said = v.Say("cleaned-up", removed)
		return errors.Join(problems...)
	})
	return said, v.path("environments"), err
}

// sessions shows the agents that people work with.
func (v *visit) sessions() (page, error) {
	w, left, err := v.whole()
	if err != nil {
		return page{}, err
	}
	defer left()
	all, err := sessions.Of(w.app)
	if err != nil {
		return page{}, err
	}
	list, err := all.Hosts.List(v.r.Context())
	if err != nil {
		return page{}, wire.Explained(err)
	}
	table := section{Empty: v.Say("no-sessions"), Columns: v.says("request state agent mode since says output")}
	for i := range list {
		s := sessions.Show(&list[i])
		table.Rows = append(table.Rows, []cell{v.requestCell(s.Issue), {Text: string(s.Status), Class: "badge " + sessionClass[s.Status]}, {Text: line(w.app, s.Agent, 60)},
			{Text: string(s.Mode)}, {At: s.StartedAt}, {Text: line(w.app, sessions.Says(&list[i]), 300)}, {Text: v.Say("output"), Href: v.path("sessions/" + strconv.Itoa(s.Issue))}})
	}
	return page{Title: v.Say("sessions"), Name: "sessions", With: "list", Content: &listView{Title: v.Say("sessions"), Lead: v.Say("sessions-what"), Sections: []section{table}}}, nil
}

var sessionClass = map[registry.IssueStatusWord]string{registry.IssueRunning: "running", registry.IssueComplete: "done", registry.IssueError: "failed"}

// sessionTail is how much of a session's output is shown, in bytes.
const sessionTail = 64 << 10

// session shows the end of what a session's agent printed.
func (v *visit) session() (page, error) {
	w, left, err := v.whole()
	if err != nil {
		return page{}, err
	}
	defer left()
	all, err := sessions.Of(w.app)
	if err != nil {
		return page{}, err
	}
	x, info, err := app.OpenSession(v.r.Context(), all.Hosts, v.r.PathValue("session"))
	if err != nil {
		return page{}, err
	}
	printed, err := x.Text()
	if err != nil {
		return page{}, wire.Explained(err)
	}
	end := &tail{limit: sessionTail}
	_, err = io.Copy(end, printed)
	if err := errors.Join(err, printed.Close()); err != nil {
		return page{}, fmt.Errorf("read the session's output: %w", err)
	}
	title := v.Say("session") + " #" + strconv.Itoa(info.Issue)
	return page{Title: title, Name: "sessions", With: "list", Content: &listView{Title: title, Crumb: cell{Text: v.Say("sessions"), Href: v.path("sessions")},
		Lead: line(w.app, sessions.EndOf(&info), 400), Output: strings.ToValidUTF8(text(w.app, string(end.kept)), "")}}, nil
}

// tail keeps the end of what is written to it.
type tail struct {
	limit int
	kept  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - t.limit; over > t.limit {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

// passes is how many of the last passes a page shows.
const passes = 30

var passClass = map[health.Result]string{health.PassHealthy: "done", health.PassRepaired: "done", health.PassFailed: "failed", health.PassCritical: "failed"}

// health shows the self-healing loop.
func (v *visit) health() (page, error) {
	w, left, err := v.whole()
	if err != nil {
		return page{}, err
	}
	defer left()
	at, err := healing.StatusOf(v.r.Context(), w.app.Opener)
	if err != nil {
		return page{}, err
	}
	h, sum := &at.State, at.Past.Sum()
	view := listView{Title: v.Say("health")}
	add := func(name, value string) {
		if value != "" {
			view.Facts = append(view.Facts, fact{Name: v.Say(name), Value: value})
		}
	}
	add("state", line(w.app, cmp.Or(h.LastHealthStatus, "–"), 200))
	add("gate", line(w.app, string(at.Gate.Decision)+": "+at.Gate.Reason, 400))
	add("passes", thousands(int64(h.RunCount)))
	add("errors-found", thousands(int64(h.TotalErrorsDetected)))
	if sum.Repairs > 0 {
		add("success-rate", v.Say("of-repairs", 100*sum.Fixed/sum.Repairs, sum.Fixed, sum.Repairs))
		add("used", workflow.Usage{OutputTokens: sum.Tokens, CostMicroUSD: sum.CostMicroUSD}.String())
	}
	if h.ContinuousFailureCount > 0 {
		add("failed-in-a-row", line(w.app, h.FailedInARow(), 200))
	}
	if at.Holder != nil {
		add("at-it", line(w.app, app.Holder(*at.Holder), 200))
	}
	open := section{Name: v.Say("open-errors"), Empty: v.Say("no-errors"), Columns: v.says("check error since repairs request")}
	for _, e := range h.Loop.Errors {
		open.Rows = append(open.Rows, []cell{{Text: line(w.app, e.Check, 60), Class: "code"}, {Text: redact.Joined(w.app.Redact.String(e.Summary), 300)}, when(e.Since),
			number(int64(e.Attempts)), v.namedRequest(w.app, e.Request)})
	}
	past := section{Name: v.Say("last-passes"), Empty: v.Say("no-passes"), Columns: v.says("began result again repairs")}
	for _, p := range slices.Backward(at.Past.Passes[max(0, len(at.Past.Passes)-passes):]) {
		var repairs []string
		for _, r := range p.Repairs {
			repairs = append(repairs, line(w.app, r.Check+": "+string(r.Outcome)+" "+r.Why, 200))
		}
		past.Rows = append(past.Rows, []cell{when(p.StartedAt), {Text: string(p.Result), Class: "badge " + cmp.Or(passClass[p.Result], "warn")}, number(int64(p.Again)), {Text: strings.Join(repairs, "; ")}})
	}
	view.Sections = []section{open, past}
	return page{Title: view.Title, Name: "health", Content: &view, With: "list"}, nil
}

// when is a time of the loop's documents.
func when(text string) cell {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return cell{Text: redact.Line(text, 30)}
	}
	return cell{At: at}
}

func (v *visit) namedRequest(p *app.App, id string) cell {
	if id == "" {
		return cell{}
	}
	return cell{Text: line(p, id, 60), Href: v.project.runPath(id)}
}

// history shows a run as it was at each of its transitions, and where its time went.
func (v *visit) history() (page, error) {
	w, left, err := v.project.look()
	if err != nil {
		return page{}, err
	}
	defer left()
	request, at, err := v.standing(w)
	if err != nil {
		return page{}, err
	}
	run := &at.Run
	if run.RunID == "" {
		return page{}, &problem.Error{Code: problem.NotFound}
	}
	all, err := history.Read(v.r.Context(), w.app, workflow.RefOf(run))
	if err != nil {
		return page{}, err
	}
	if len(all) == 0 {
		return page{}, &problem.Error{Err: errors.New(v.Say("no-history")), Code: problem.NotFound}
	}
	q, now := v.r.URL.Query(), w.app.Now()
	last := len(all) - 1
	i := last
	if n, err := strconv.Atoi(q.Get("at")); err == nil {
		i = max(0, min(last, n))
	}
	m := history.At(run, all, i, now)
	view := listView{Title: v.Say("history"), Crumb: cell{Text: "#" + run.Ref() + " " + line(w.app, run.Title, 200), Href: v.project.runPath(request)},
		Slider: &slider{At: i, Last: last, Before: max(0, i-1), Next: min(last, i+1)}}
	view.Facts = []fact{{Name: v.Say("transition"), Value: v.Say("of", m.Seq, all[last].Seq)}, {Name: v.Say("when"), At: m.At}, {Name: v.Say("event"), Value: line(w.app, string(m.Event), 60), Code: true},
		{Name: v.Say("state"), Value: v.lang.State(m.State)}, {Name: v.Say("phase"), Value: string(m.Phase.Step())}, {Name: v.Say("what"), Value: line(w.app, m.Message, 400)},
		{Name: v.Say("lasted"), Value: took(m.Lasted)}}
	if m.Missing > 0 {
		view.Facts = append(view.Facts, fact{Name: v.Say("missing"), Value: thousands(int64(m.Missing))})
	}
	for _, key := range m.Actions {
		view.Facts = append(view.Facts, fact{Name: v.Say("pending"), Value: line(w.app, key, 80), Code: true})
	}
	steps := section{Name: v.Say("steps"), Empty: "–", Columns: v.says("step what state")}
	for _, s := range m.Steps {
		steps.Rows = append(steps.Rows, []cell{{Text: line(w.app, s.ID, 20), Class: "code"}, {Text: line(w.app, s.Title, 200)}, {Text: strings.ToLower(string(s.Status))}})
	}
	tests := section{Name: v.Say("evidence"), Empty: v.Say("no-evidence"), Columns: v.says("result purpose command when")}
	for _, e := range m.Tests {
		result := cell{Text: v.Say("passed"), Class: "badge done"}
		if !e.Passed {
			result = cell{Text: v.Say("failed"), Class: "badge failed"}
		}
		tests.Rows = append(tests.Rows, []cell{result, {Text: line(w.app, e.Purpose, 60)}, {Text: line(w.app, cmp.Or(e.Command, e.Check), 200), Class: "code"}, {At: e.At}})
	}
	track := section{Name: v.Say("where-time-went"), Columns: v.says("phase began ended worked waited times")}
	for _, p := range history.Track(run, all, now) {
		track.Rows = append(track.Rows, []cell{{Text: string(p.Phase.Step())}, {At: p.Began}, {At: p.Ended}, {Text: took(p.Worked), Class: "number"}, {Text: took(p.Waited), Class: "number"}, number(int64(p.Times))})
	}
	view.Sections = []section{steps, tests, track, v.transitions(w.app, all, i, q)}
	return page{Title: view.Title + " #" + run.Ref(), Name: "board", Content: &view, With: "list"}, nil
}

// shownTransitions is how many transitions around the shown one are listed.
const shownTransitions = 60

func (v *visit) transitions(p *app.App, all []store.Transition, at int, q url.Values) section {
	list := section{Name: v.Say("transitions"), Columns: v.says("transition when state phase event what")}
	from := max(0, min(at-shownTransitions/2, len(all)-shownTransitions))
	for i := from; i < min(len(all), from+shownTransitions); i++ {
		t := all[i]
		link := url.Values{"at": {strconv.Itoa(i)}}
		if id := q.Get("run"); id != "" {
			link.Set("run", id)
		}
		list.Rows = append(list.Rows, []cell{{Text: strconv.Itoa(t.Seq), Href: "?" + link.Encode(), Current: i == at}, {At: t.At}, {Text: v.lang.State(t.State)}, {Text: string(t.Phase.Step())},
			{Text: line(p, string(t.Event), 60), Class: "code"}, {Text: line(p, t.Message, 200)}})
	}
	return list
}
