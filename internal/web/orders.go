package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"signalbox/internal/access"
	"signalbox/internal/app"
	"signalbox/internal/commandline"
	"signalbox/internal/language"
	"signalbox/internal/problem"
	"signalbox/internal/workflow"
)

// order is something that a person can do: a button with a form, a link, or words about what only they can do.
type order struct {
	Verb, Label, Href, Action string
	// Asks is the label of a field for words; Sure is asked before the order is sent.
	Asks, Sure string
	Required   bool
	// Danger: it ends or loses something. Primary: it is the one that a person most likely wants.
	Danger, Primary bool
	// Role is the class of who may: pages hide what their reader may not, and the server refuses it.
	Role    string
	About   string
	Command string
	Fields  []field
}

type field struct{ Name, Value string }

// Verbs of forms beyond those of next steps.
const (
	verbCancel = "cancel"
	verbForce  = "force"
	verbAnswer = "answer"
)

// verbs are those of all forms.
var verbs = []string{string(workflow.VerbRun), string(workflow.VerbApprove), string(workflow.VerbReject), string(workflow.VerbResume), string(workflow.VerbRetry), string(workflow.VerbSync),
	string(workflow.VerbStop), verbForce, verbCancel, verbAnswer}

// orderOf is a button that orders verb of a request. r is its run, nil if there is none.
func (pr *project) orderOf(l language.Language, request, verb string, r *workflow.Run, label string, args ...any) order {
	o := order{Verb: verb, Label: l.Page(label, args...), Action: pr.runPath(request) + "/orders", Role: "operates", Fields: []field{{"verb", verb}}}
	if r != nil {
		o.Fields = append(o.Fields, field{"run", r.RunID}, field{"at", strconv.Itoa(r.Details.Transition)})
	}
	return o
}

// orders are the next steps of a run, for a card or the run's own page. What the page shows anyway isn't offered there.
func (pr *project) orders(l language.Language, p *app.App, r *workflow.Run, steps []workflow.NextStep, onCard bool) (all []order) {
	if q := r.Details.Question; q != nil && onCard {
		return []order{{Label: l.Page("order-answer"), Href: pr.runPath(r.RequestID) + "#now", Primary: true}}
	}
	for _, s := range steps {
		o, ok := pr.step(l, p, r, s)
		if !ok || onCard && o.Action == "" && o.Verb != string(workflow.VerbDiff) || slices.ContainsFunc(all, func(x order) bool { return o.Action != "" && x.Verb == o.Verb }) {
			continue
		}
		all = append(all, o)
	}
	if i := slices.IndexFunc(all, func(o order) bool { return o.Action != "" && !o.Danger && o.Asks == "" }); i >= 0 {
		best := all[i]
		best.Primary = true
		all = slices.Insert(slices.Delete(all, i, i+1), 0, best)
	}
	if !onCard && !slices.ContainsFunc(all, func(o order) bool { return o.Verb == verbCancel }) && !r.State.Final() && r.Details.MergeCommit == "" {
		if r.UnderWay() {
			all = append(all, pr.orderOf(l, r.RequestID, string(workflow.VerbStop), r, "order-stop"))
		}
		all = append(all, pr.giveUp(l, r))
	}
	return all
}

func (pr *project) giveUp(l language.Language, r *workflow.Run) order {
	o := pr.orderOf(l, r.RequestID, verbCancel, r, "order-cancel")
	o.Danger, o.Sure = true, l.Page("sure-cancel")
	return o
}

// step is a next step as a button; ok is false if the page shows its subject.
func (pr *project) step(l language.Language, p *app.App, r *workflow.Run, s workflow.NextStep) (o order, ok bool) {
	at := pr.runPath(r.RequestID)
	mine := len(s.Runs) == 1 && s.Runs[0] == r.Ref()
	link := func(label, href string) (order, bool) {
		return order{Verb: string(s.Verb), Label: l.Page(label), Href: href}, true
	}
	typed := order{Label: line(p, l.Step(s), 300), Command: line(p, commandline.Quote(commandline.Arguments(s)), 500)}
	if typed.Command != "" && typed.Label != "" {
		typed.Label += ": "
	}
	if s.Unsandboxed && !p.Unsandboxed() {
		return typed, true // protection is given up in a terminal
	}
	switch {
	case s.Verb == workflow.VerbDiff && mine:
		return link("order-diff", at+"/diff")
	case s.Verb == workflow.VerbStatus && mine:
		return o, false
	case s.Verb == workflow.VerbLogs && mine:
		return link("order-logs", at+"#output")
	case s.Verb == workflow.VerbList:
		return link("order-list", pr.path(""))
	case s.Verb == workflow.VerbDoctor:
		return link("order-doctor", pr.path("doctor"))
	case s.Verb == workflow.VerbEnvironmentLogs || s.Verb == workflow.VerbRemoveEnvironment:
		return link("order-env", pr.path("environments"))
	case s.Verb == workflow.VerbStartSession:
		return link("order-session", pr.path("sessions"))
	case !mine:
		return typed, true
	}
	verb := string(s.Verb)
	switch s.Verb {
	case workflow.VerbApprove:
		o = pr.orderOf(l, r.RequestID, verb, r, "order-approve", r.Details.Head)
		o.Role, o.About, o.Fields = "approves", l.Page("approves-exactly")+": "+r.Details.Head, append(o.Fields, field{"commit", r.Details.Head})
	case workflow.VerbReject:
		o = pr.orderOf(l, r.RequestID, verb, r, "order-reject")
		o.Asks, o.Required = l.Page("order-reason"), true
	case workflow.VerbStop:
		if s.Cancel {
			return pr.giveUp(l, r), true
		}
		o = pr.orderOf(l, r.RequestID, verb, r, "order-stop")
	case workflow.VerbResume:
		if s.Force {
			o = pr.orderOf(l, r.RequestID, verbForce, r, "order-force")
			o.Danger, o.Sure = true, l.Page("sure-force")
			break
		}
		o = pr.orderOf(l, r.RequestID, verb, r, "order-resume")
	case workflow.VerbRun, workflow.VerbRetry, workflow.VerbSync:
		o = pr.orderOf(l, r.RequestID, verb, r, "order-"+verb)
	default:
		return typed, true
	}
	return o, true
}

var errNoCommit = errors.New("no commit is named")

// order carries out what a form orders of a run. Each form says which run its reader saw, and in which state, so that one that is sent twice, or late,
// orders nothing more, and nothing of the run that was begun since.
func (v *visit) order() (said, then string, err error) {
	w, left, err := v.project.look()
	if err != nil {
		return "", "", err
	}
	defer left()
	request, err := w.requestOf(v.r.PathValue("run"))
	if err != nil {
		return "", "", err
	}
	form := v.r.PostForm
	verb := form.Get("verb")
	if !slices.Contains(verbs, verb) { // before it is recorded
		return "", "", &problem.Error{Err: fmt.Errorf("there is no order %q", verb), Code: problem.Usage}
	}
	if (verb == string(workflow.VerbApprove) || verb == verbAnswer && form.Get("verdict") == string(workflow.AnswerAllow)) && !v.user.May(access.Approver) {
		return "", "", errForbidden{access.Approver}
	}
	one, _ := v.orders.LoadOrStore(v.project.name+"/"+request, &sync.Mutex{})
	one.(*sync.Mutex).Lock()
	defer one.(*sync.Mutex).Unlock()

	ctx, p, closeProject, err := v.project.open(context.WithoutCancel(v.r.Context())) // an order that was begun is given, even if the browser leaves
	if err != nil {
		return "", "", err
	}
	defer closeProject()
	var given bool
	give := func() (err error) {
		given, err = v.give(ctx, p, request, verb)
		return err
	}
	if err := v.audited(access.Act{What: verb, Run: request, Commit: form.Get("commit"), Detail: form.Get("verdict") + form.Get("text")}, give); err != nil {
		return "", "", err
	}
	said = v.Say("done-order")
	if !given {
		said = v.Say("done-already")
	}
	return said, v.project.runPath(request), nil
}

// audited does what the user ordered, with a line of who did it.
func (v *visit) audited(act access.Act, do func() error) error {
	if v.project != nil {
		act.Project = v.project.name
	}
	if v.Audit == nil {
		return do()
	}
	return v.Audit.Do(v.r.Context(), act, do)
}

// give gives an order, or reports that it was given before.
func (v *visit) give(ctx context.Context, p *app.App, request, verb string) (given bool, err error) {
	form := v.r.PostForm
	through := "the web page"
	if v.user.Name != "" {
		through += " as " + line(p, v.user.Name, 60)
	}
	if verb == string(workflow.VerbRun) && form.Get("at") == "" {
		if _, held, err := p.Held(ctx, request); err != nil || held {
			return false, err
		}
		if _, err := p.Store.LatestRun(ctx, request); err == nil { // it was begun, and has ended by now
			return false, nil
		}
		_, err := v.Starter.Run(ctx, p, request)
		return err == nil, err
	}
	found, err := p.Find(ctx, request)
	if err != nil {
		return false, err
	}
	r := &found.Run
	movedOn := &problem.Error{Err: errors.New(v.Say("moved-on")), Code: problem.Held}
	if form.Get("run") != r.RunID { // another run was begun; its transitions and questions count from one again
		return false, movedOn
	}
	moved := form.Get("at") != strconv.Itoa(r.Details.Transition)
	waits := func(kind workflow.CommandKind) bool {
		return slices.ContainsFunc(r.Signals.Commands, func(c workflow.Command) bool { return c.Kind == kind })
	}
	decided := func(o app.Order, kind workflow.CommandKind) (bool, error) {
		switch {
		case kind == workflow.CommandReject && (moved || waits(kind)): // its words would be lost
			return false, movedOn
		case moved && r.UnderWay(), !moved && kind != "" && waits(kind):
			return false, nil
		case moved:
			return false, movedOn
		}
		return true, v.Starter.Give(ctx, p, r.RunID, o.Through(through))
	}
	words := strings.TrimSpace(form.Get("text"))
	switch verb {
	case string(workflow.VerbRun):
		if moved {
			return false, nil
		}
		_, err := v.Starter.Run(ctx, p, request)
		return err == nil, err
	case string(workflow.VerbApprove):
		commit := form.Get("commit")
		if commit == "" {
			return false, &problem.Error{Err: errNoCommit, Code: problem.Usage}
		}
		if a := r.Details.Approval; a != nil && a.Commit == commit || waits(workflow.CommandApprove) && r.Details.Head == commit {
			return false, nil
		}
		return true, v.Starter.Give(ctx, p, r.RunID, app.Approve(commit).Through(through))
	case string(workflow.VerbReject):
		if words == "" {
			return false, &problem.Error{Err: errors.New(v.Say("order-reason")), Code: problem.Usage}
		}
		if x := r.Details.Rejection; moved && x != nil && x.Reason == words || slices.ContainsFunc(r.Signals.Commands, func(c workflow.Command) bool { return c.Kind == workflow.CommandReject && c.Text == words }) {
			return false, nil
		}
		return decided(app.Reject(words), workflow.CommandReject)
	case string(workflow.VerbResume):
		return decided(app.Resume(false), "")
	case verbForce:
		return decided(app.Resume(true), workflow.CommandForce)
	case string(workflow.VerbRetry):
		return decided(app.Retry(), workflow.CommandRetry)
	case string(workflow.VerbSync):
		return decided(app.Sync(), workflow.CommandSync)
	case string(workflow.VerbStop):
		if !r.UnderWay() || r.Signals.StopRequested {
			return false, nil
		}
		return true, v.Starter.Stop(ctx, p, r.RunID, false)
	case verbCancel:
		if r.State == workflow.Canceled || r.Details.Canceling || waits(workflow.CommandCancel) {
			return false, nil
		}
		return true, v.Starter.Stop(ctx, p, r.RunID, true)
	}
	return v.answer(ctx, p, r, through)
}

// answer gives a person's answer to the question that the form showed.
func (v *visit) answer(ctx context.Context, p *app.App, r *workflow.Run, through string) (given bool, err error) {
	form := v.r.PostForm
	question := form.Get("question")
	if a := r.Details.Answer; a != nil && a.Question == question && r.Details.Question == nil {
		return false, nil
	}
	asking, err := p.Asking(ctx, r.RunID, question)
	if err == nil && asking.Session { // the form showed the run's question, whose number is no other's
		err = &problem.Error{Err: errors.New(v.Say("moved-on")), Code: problem.Held}
	}
	if err != nil {
		return false, err
	}
	option, _ := strconv.Atoi(form.Get("option"))
	a := workflow.Answer{Verdict: workflow.AnswerVerdict(form.Get("verdict")), Option: option, Text: strings.TrimSpace(form.Get("text"))}
	_, _, err = asking.Give(ctx, a, through)
	return err == nil, err
}
