package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/app"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// outputView is the end of a log: what an agent said and did, or what a command printed.
type outputView struct {
	Log    string
	Pinned bool
	// From and To are where in the file the part begins and ends, in bytes.
	From, To int64
	HTML     template.HTML
}

// entryView is an entry of a conversation.
type entryView struct {
	Kind, Label, Text, First string
	Failed, Folds            bool
	At                       time.Time
}

const (
	// shownTail is how much of a log a page begins with, and maxPart how much an event or a page of a whole log has, in bytes.
	shownTail = 48 << 10
	maxPart   = 256 << 10
	// longLine is how much of a line is shown, in bytes; the raw log has the rest.
	longLine = 4000
)

// logFile opens the transcript of a log, or else what was printed.
func logFile(p *app.App, ref workflow.RunRef, name string) (file *os.File, entries bool, err error) {
	log := p.Logs(ref).Dir + "/" + name
	if file, err = p.Store.OpenArtifact(store.TranscriptPath(log)); err == nil {
		return file, true, nil
	}
	file, err = p.Store.OpenArtifact(log)
	return file, false, err
}

// tail is the end of a log.
func (v *visit) tail(p *app.App, r *workflow.Run, name string) outputView {
	o := outputView{Log: name}
	if name == "" {
		return o
	}
	file, entries, err := logFile(p, workflow.RefOf(r), name)
	if err != nil {
		return o
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return o
	}
	o.From = max(0, info.Size()-shownTail)
	data, from := read(file, o.From, o.From > 0)
	o.From = from
	o.HTML, o.To = v.output(p, data, from, entries, r.State.Ended())
	return o
}

// read reads a part of a log. The part begins with a line if aligned.
func read(file *os.File, from int64, aligned bool) (data []byte, begins int64) {
	data = make([]byte, maxPart)
	n, err := file.ReadAt(data, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, from
	}
	data = data[:n]
	if aligned {
		cut := bytes.IndexByte(data, '\n') + 1
		data, from = data[cut:], from+int64(cut)
	}
	return data, from
}

// output is a part of a log as HTML, and where it ends: after a whole line, unless the log is complete. Each line has its place in the file, by which
// the page knows what it has.
func (v *visit) output(p *app.App, data []byte, from int64, entries, complete bool) (html template.HTML, to int64) {
	var out strings.Builder
	for len(data) > 0 {
		end := bytes.IndexByte(data, '\n') + 1
		if end == 0 {
			if len(data) < maxPart && (!complete || entries) {
				break
			}
			end = len(data)
		}
		l := string(data[:end])
		data, from = data[end:], from+int64(end)
		if e, ok := v.entry(p, l, entries); ok {
			part, err := v.part(v.lang, "run", "entry", e)
			if err == nil {
				out.WriteString(string(part))
			}
		}
	}
	return template.HTML(out.String()), from //nolint:gosec // templates escaped each line
}

var entryLabels = map[agent.EntryKind]string{agent.Began: "agent-begin", agent.Said: "agent-says", agent.ToolCalled: "agent-tool", agent.ToolReturned: "agent-result",
	agent.PermissionAsked: "agent-asks", agent.QuestionAsked: "agent-asks", agent.PermissionDenied: "agent-denied", agent.QuestionAnswered: "agent-answered",
	agent.Retrying: "agent-retry", agent.Warned: "agent-warning", agent.Erred: "agent-error", agent.Over: "agent-end"}

// entry is a line of a log to show; ok is false if people needn't see it.
func (v *visit) entry(p *app.App, l string, entries bool) (e entryView, ok bool) {
	var x agent.Entry
	if !entries || json.Unmarshal([]byte(l), &x) != nil {
		return entryView{Kind: "line", Text: redact.Cut(text(p, strings.TrimRight(l, "\r\n")), longLine)}, true
	}
	label, shown := entryLabels[x.Kind]
	if !shown {
		return e, false
	}
	said := strings.TrimSpace(text(p, x.Text))
	e = entryView{Kind: string(x.Kind), Label: v.Say(label), Text: said, Failed: x.Failed, At: x.Time}
	switch x.Kind {
	case agent.Began:
		e.Text = line(p, strings.TrimSpace(x.Program+" "+x.Model), 200)
	case agent.ToolCalled, agent.ToolReturned:
		e.Folds = true
		e.First = strings.TrimSpace(line(p, x.Tool, 80) + " " + redact.Line(said, 120))
	case agent.Over:
		if u := x.Usage; u != nil {
			e.Text = strings.TrimSpace(fmt.Sprintf("%s %s + %s", said, thousands(u.InputTokens), thousands(u.OutputTokens)))
		}
	}
	return e, true
}

// logNews is what was printed after what the page shows.
type logNews struct {
	Log    string        `json:"log"`
	Begins bool          `json:"begins,omitempty"`
	From   int64         `json:"from"`
	To     int64         `json:"to"`
	HTML   template.HTML `json:"html"`
}

// runEvents follows the page of a run.
func (v *visit) runEvents() error {
	w, left, err := v.project.look()
	if err != nil {
		return err
	}
	defer left()
	request, at, err := v.standing(w)
	if err != nil {
		return err
	}
	woken := make(chan struct{}, 1)
	defer w.wake(woken)()
	last := strings.Split(v.last(), "/") // as runCursor writes it
	if len(last) != 4 {
		last = []string{"", "", "", "0"}
	}
	log := last[2]
	to, _ := strconv.ParseInt(last[3], 10, 64)
	if names, _ := w.app.Logs(workflow.RefOf(&at.Run)).Names(); to < 0 || !slices.Contains(names, log) { // the page says it
		log, to = "", 0
	}
	s, err := v.stream()
	if err != nil {
		return nil // it has gone
	}
	sum, shown := last[1], map[string]template.HTML{}
	var output <-chan struct{}
	watched := workflow.RunRef{}
	pinned := v.r.URL.Query().Get("log")
	for {
		r := v.runView(w, request, at)
		parts, err := v.parts(r)
		if err != nil {
			return err
		}
		news := map[string]template.HTML{}
		for name, html := range parts {
			if shown[name] != html {
				news[name] = html
			}
		}
		if now := fingerprintOf(parts); now != sum {
			sum = now
			if s.send("parts", runCursor(r, sum, log, to), news) != nil {
				return nil
			}
		}
		shown = parts
		if r.Run != nil {
			ref := workflow.RefOf(r.Run)
			if ref != watched {
				if changes, err := w.app.Store.Watch(v.r.Context(), w.app.Logs(ref).Dir); err == nil { // the folder may not be there yet
					output, watched = changes, ref
				}
			}
			if log, to, err = v.printed(s, w.app, r, sum, pinned, log, to); err != nil {
				return nil
			}
		}
		if !s.waits(woken, output) {
			return nil
		}
		if request, at, err = v.standing(w); err != nil {
			return err
		}
	}
}

// printed sends what was printed since, and returns how far which log was read.
func (v *visit) printed(s *stream, p *app.App, r *runView, parts, pinned, log string, to int64) (string, int64, error) {
	names, err := p.Logs(workflow.RefOf(r.Run)).Names()
	if err != nil || len(names) == 0 {
		return log, to, nil
	}
	if slices.Contains(names, pinned) {
		names = []string{pinned}
	} else if i := slices.Index(names, log); i >= 0 {
		names = names[i:]
	} else {
		names = names[len(names)-1:]
	}
	for _, name := range names {
		begins := name != log
		if begins {
			log, to = name, 0
		}
		for {
			file, entries, err := logFile(p, workflow.RefOf(r.Run), log)
			if err != nil {
				break
			}
			data, _ := read(file, to, false)
			_ = file.Close()
			html, end := v.output(p, data, to, entries, r.Run.State.Ended() || name != names[len(names)-1])
			if end == to && !begins {
				break
			}
			n := logNews{log, begins, to, end, html}
			to, begins = end, false
			if err := s.send("log", runCursor(r, parts, log, to), n); err != nil {
				return log, to, err
			}
		}
	}
	return log, to, nil
}

// last is what the page shows already.
func (v *visit) last() string {
	if last := v.r.Header.Get("Last-Event-ID"); last != "" {
		return last
	}
	return v.r.URL.Query().Get("last")
}

// wholeLog is a log, a page at a time.
func (v *visit) wholeLog() error {
	w, left, err := v.project.look()
	if err != nil {
		return err
	}
	defer left()
	request, at, err := v.standing(w)
	if err != nil {
		return err
	}
	name := v.r.PathValue("log")
	names, _ := w.app.Logs(workflow.RefOf(&at.Run)).Names()
	if !slices.Contains(names, name) {
		return &problem.Error{Code: problem.NotFound}
	}
	file, entries, err := logFile(w.app, workflow.RefOf(&at.Run), name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	from, _ := strconv.ParseInt(v.r.URL.Query().Get("from"), 10, 64)
	from = max(0, from)
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	data, _ := read(file, from, false)
	html, to := v.output(w.app, data, from, entries, true)
	content := struct {
		Run, Title, Log string
		Output          template.HTML
		Next            int64
	}{v.project.runPath(request), line(w.app, at.Run.Title, 200), name, html, 0}
	if to < info.Size() && to > from {
		content.Next = to
	}
	return v.show(http.StatusOK, "log", page{Title: name, Name: "board", Content: content})
}
