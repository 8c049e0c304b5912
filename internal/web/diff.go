package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"signalbox/internal/app"
	"signalbox/internal/app/change"
	"signalbox/internal/problem"
	"signalbox/internal/workflow"
)

// diffView is a change as its page shows it.
type diffView struct {
	Path, Title, Number, Run, Base, Head string
	// At is the run's transition.
	At           int
	Split        bool
	Step, Only   string
	Steps        []stepLink
	Files        []*fileView
	More         bool
	Added, Taken int
	// Decides: a person decides on the change now.
	Decides bool
	// Flags are why a person must look.
	Flags  []string
	Orders []order
}

type stepLink struct {
	ID, Title string
	Size      workflow.DiffStat
}

type fileView struct {
	change.File
	// ID is the element's, Mark what the reader has seen when they have seen it: the name and the content.
	ID, Mark string
	Hunks    []hunkView
	// Alone is the address of the file alone, if it has lines that aren't shown.
	Alone string
}

type hunkView struct {
	Section string
	From    int
	Rows    []rowView
}

// rowView is a row of one table, side by side or one below the other. Left is also the only side of the latter.
type rowView struct{ Left, Right *lineView }

// lineView is a line in three pieces: what its counterpart has too, what only it has, and the rest.
type lineView struct {
	Kind              string
	Old, New          int
	Begin, Mine, Rest string
	NoEnd             bool
}

var kindNames = map[change.Kind]string{change.Same: "same", change.Removed: "old", change.Added: "new"}

// diff shows what a run changed, or one of its steps.
func (v *visit) diff() (page, error) {
	w, left, err := v.project.look()
	if err != nil {
		return page{}, err
	}
	defer left()
	request, at, err := v.standing(w)
	if err != nil {
		return page{}, err
	}
	r := &at.Run
	if r.RunID == "" {
		return page{}, &problem.Error{Code: problem.NotFound}
	}
	q := v.r.URL.Query()
	view := diffView{Path: v.project.runPath(request), Title: line(w.app, r.Title, 200), Number: r.Ref(), Run: r.RunID, At: r.Details.Transition, Step: q.Get("step"), Only: q.Get("file"),
		Split: q.Get("view") == "split" || q.Get("view") == "" && !strings.Contains(v.r.UserAgent(), "Mobile")}
	limits := change.Page
	if view.Only != "" {
		limits = change.Single(view.Only)
	}
	var d change.Diff
	if view.Step != "" {
		d, err = change.ReadStep(w.app, r, view.Step, limits)
	} else {
		d, err = change.Read(v.r.Context(), w.app, r, limits)
	}
	if err != nil {
		return page{}, err
	}
	view.Base, view.Head, view.More = d.Base, d.Head, d.More
	for _, s := range change.Steps(r) {
		view.Steps = append(view.Steps, stepLink{line(w.app, s.ID, 20), line(w.app, s.Title, 120), s.Size})
	}
	for i := range d.Files {
		f := &d.Files[i]
		view.Added, view.Taken = view.Added+f.Added, view.Taken+f.Deleted
		if view.Only == "" || view.Only == f.Path {
			view.Files = append(view.Files, view.file(f, i))
		}
	}
	if view.Step == "" && view.Only == "" && r.AsksForApproval() && !at.Interrupted {
		view.Decides = true
		for _, f := range r.Details.Flags {
			view.Flags = append(view.Flags, line(w.app, f, 400))
		}
		view.Orders = slices.DeleteFunc(v.project.orders(v.lang, w.app, r, app.NextSteps(r, false), false), func(o order) bool {
			return o.Verb != string(workflow.VerbApprove) && !strings.Contains(o.Command, " "+string(workflow.VerbApprove)+" ")
		})
	}
	return page{Title: v.Say("change") + " #" + view.Number, Name: "board", With: "diff", Content: &view, Keys: diffKeys}, nil
}

var diffKeys = []keys{{[]string{"j", "k"}, "key-line"}, {[]string{"]", "["}, "key-file"}, {[]string{"c"}, "key-comment"}, {[]string{"v"}, "key-viewed"}, {[]string{"u"}, "key-unified"}}

// Address is this page with another choice.
func (d *diffView) Address(name, value string) string {
	q := url.Values{}
	for k, v := range map[string]string{"step": d.Step, "file": d.Only, "view": map[bool]string{true: "split", false: "unified"}[d.Split], name: value} {
		if v != "" {
			q.Set(k, v)
		}
	}
	return d.Path + "/diff?" + q.Encode()
}

func (d *diffView) file(f *change.File, i int) *fileView {
	v := &fileView{File: *f, ID: fmt.Sprintf("f%d", i), Mark: f.Path + "@" + f.NewID}
	if f.Cut && d.Only == "" {
		v.Alone = d.Address("file", f.Path)
	}
	for i := range f.Hunks {
		h := &f.Hunks[i]
		if len(h.Lines) == 0 {
			continue
		}
		x := hunkView{Section: h.Section, From: max(h.Lines[0].Old, h.Lines[0].New)}
		var below []rowView // added lines, behind the removed ones
		for _, pair := range h.Pairs() {
			switch {
			case d.Split:
				x.Rows = append(x.Rows, rowView{lineOf(pair.Left, pair.Right), lineOf(pair.Right, pair.Left)})
			case pair.Left == pair.Right:
				x.Rows, below = append(append(x.Rows, below...), rowView{Left: lineOf(pair.Left, nil)}), nil
			default:
				if pair.Left != nil {
					x.Rows = append(x.Rows, rowView{Left: lineOf(pair.Left, pair.Right)})
				}
				if pair.Right != nil {
					below = append(below, rowView{Left: lineOf(pair.Right, pair.Left)})
				}
			}
		}
		x.Rows = append(x.Rows, below...)
		v.Hunks = append(v.Hunks, x)
	}
	return v
}

// lineOf shows a line, and what of it its counterpart doesn't have.
func lineOf(l, other *change.Line) *lineView {
	if l == nil {
		return nil
	}
	v := &lineView{Kind: kindNames[l.Kind], Old: l.Old, New: l.New, Begin: l.Text, NoEnd: l.NoEnd}
	if other == nil || l.Kind == change.Same {
		return v
	}
	begin, rest := common(l.Text, other.Text)
	if begin+rest >= min(len(l.Text), len(other.Text))/3 { // otherwise all of it is another line
		v.Begin, v.Mine, v.Rest = l.Text[:begin], l.Text[begin:len(l.Text)-rest], l.Text[len(l.Text)-rest:]
	}
	return v
}

// common is how many bytes two lines have in common at their beginnings and, of the rest, at their ends: whole characters.
func common(a, b string) (begin, end int) {
	for begin < min(len(a), len(b)) && a[begin] == b[begin] {
		begin++
	}
	for begin > 0 && begin < len(a) && !utf8.RuneStart(a[begin]) {
		begin--
	}
	for end < min(len(a), len(b))-begin && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	for end > 0 && !utf8.RuneStart(a[len(a)-end]) {
		end--
	}
	return begin, end
}

// review sends a change back with what its reader wrote on single lines. The lines are read again from the change that they saw.
func (v *visit) review() (said, then string, err error) {
	w, left, err := v.project.look()
	if err != nil {
		return "", "", err
	}
	defer left()
	_, at, err := v.standing(w)
	if err != nil {
		return "", "", err
	}
	form := v.r.PostForm
	if at.Run.RunID == "" || form.Get("head") != at.Run.Details.Head {
		return "", "", &problem.Error{Err: errors.New(v.Say("moved-on")), Code: problem.Held}
	}
	var comments []change.Comment
	if text := form.Get("comments"); text != "" {
		if err := json.Unmarshal([]byte(text), &comments); err != nil {
			return "", "", &problem.Error{Err: fmt.Errorf("read the comments: %w", err), Code: problem.Usage}
		}
	}
	if len(comments) == 0 && strings.TrimSpace(form.Get("text")) == "" {
		return "", "", &problem.Error{Err: errors.New(v.Say("nothing-to-say")), Hint: v.Say("say-what"), Code: problem.Usage}
	}
	d, err := change.Read(v.r.Context(), w.app, &at.Run, change.Whole)
	if err != nil {
		return "", "", err
	}
	reason, err := d.Reason(form.Get("text"), comments)
	if err != nil {
		return "", "", err
	}
	form.Set("verb", string(workflow.VerbReject))
	form.Set("text", reason)
	return v.order()
}
