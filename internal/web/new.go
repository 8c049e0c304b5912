package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"

	"signalbox/internal/access"
	"signalbox/internal/app/doctor"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
)

func actOn(what, detail string) access.Act { return access.Act{What: what, Detail: detail} }

// newView is the form of a new request. Key has one request opened, however often the form is sent.
type newView struct {
	Key, Title, Description, Action, Preview string
	// Shown is the description as agents get it, Hidden how many characters of it no reader sees.
	Shown  string
	Hidden int
}

// newRequest shows the form.
func (v *visit) newRequest() (page, error) {
	_, left, err := v.whole()
	if err != nil {
		return page{}, err
	}
	left()
	return page{Title: v.Say("new-request"), Name: "new-request", With: "list", Content: newView{Key: rand.Text(), Action: v.path("new"), Preview: v.path("preview")}}, nil
}

// preview shows the form again, with the request as agents get it: as text, since that is what they read.
func (v *visit) preview() error {
	w, left, err := v.whole()
	if err != nil {
		return err
	}
	defer left()
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	if err := v.r.ParseForm(); err != nil {
		return &problem.Error{Err: fmt.Errorf("read the form: %w", err), Code: problem.Usage}
	}
	form := v.r.PostForm
	characters, commented := redact.Hidden(form.Get("description"))
	view := newView{Key: form.Get("key"), Title: form.Get("title"), Description: form.Get("description"), Action: v.path("new"), Preview: v.path("preview"),
		Shown: strings.TrimSpace("# " + line(w.app, form.Get("title"), 200) + "\n\n" + text(w.app, form.Get("description"))), Hidden: characters + commented}
	return v.show(http.StatusOK, "new", page{Title: v.Say("new-request"), Name: "new-request", With: "list", Content: view})
}

// openRequest opens a request and, if that was the button, runs it.
func (v *visit) openRequest() (said, then string, err error) {
	if v.user.Only != "" {
		return "", "", errForbidden{}
	}
	form := v.r.PostForm
	key := form.Get("key")
	if len(key) < 20 || len(key) > 40 {
		return "", "", &problem.Error{Err: fmt.Errorf("the form has no key"), Hint: "load the page again", Code: problem.Usage}
	}
	ctx, p, closeProject, err := v.project.open(context.WithoutCancel(v.r.Context()))
	if err != nil {
		return "", "", err
	}
	defer closeProject()
	err = v.audited(actOn("new request", form.Get("title")), func() error {
		request, err := p.NewRequestOnce(ctx, "web/"+key, form.Get("title"), form.Get("description"))
		if err != nil {
			return err
		}
		said, then = v.Say("request-opened", request.Number), v.project.runPath(request.ID)
		if _, noRun := p.Store.LatestRun(ctx, request.ID); form.Get("do") == "run" && noRun != nil {
			_, err = v.Starter.Run(ctx, p, request.ID)
		}
		return err
	})
	return said, then, err
}

// doctor shows the button of an examination.
func (v *visit) doctor() (page, error) {
	_, left, err := v.whole()
	if err != nil {
		return page{}, err
	}
	left()
	return v.doctorPage(false), nil
}

type doctorView struct {
	Action  string
	Running bool
}

func (v *visit) doctorPage(running bool) page {
	return page{Title: v.Say("doctor"), Name: "doctor", With: "list", Content: doctorView{v.path("doctor"), running}}
}

// examine examines the project and shows each finding as it comes: the page is sent as far as its list, then the findings, then the rest.
func (v *visit) examine() error {
	if v.user.Only != "" {
		return errForbidden{}
	}
	ctx, p, closeProject, err := v.project.open(v.r.Context())
	if err != nil {
		return err
	}
	defer closeProject()
	whole := &held{header: v.w.Header()}
	v.r.Header.Del("Accept-Encoding")
	if err := (&visit{site: v.site, w: whole, r: v.r, lang: v.lang, user: v.user, project: v.project}).show(http.StatusOK, "doctor", v.doctorPage(true)); err != nil {
		return err
	}
	begin, rest, _ := bytes.Cut(whole.body.Bytes(), []byte(findingsGoHere))
	flush := http.NewResponseController(v.w)
	counts := map[string]int{}
	all := 0
	_, err = v.w.Write(begin)
	doctor.ExamineEach(ctx, p, func(f doctor.Finding) {
		all, counts[f.Verdict] = all+1, counts[f.Verdict]+1
		f = doctor.Finding{What: line(p, f.What, 80), Verdict: f.Verdict, Says: redact.Cut(text(p, f.Says), 4000), Next: redact.Cut(text(p, f.Next), 2000)}
		html, partErr := v.part(v.lang, "doctor", "finding", f)
		if err == nil {
			err = partErr
		}
		if err == nil {
			_, err = v.w.Write([]byte(html))
			_ = flush.Flush() // a writer that can't keeps it until the end
		}
	})
	if err == nil {
		_, err = fmt.Fprintf(v.w, "<li class=\"meta\">%s</li>%s", v.Say("examined", all, counts[doctor.VerdictMissing], counts[doctor.VerdictWarning]), rest)
	}
	if err != nil { // the page is half sent
		v.Logger.Warn("show an examination", "err", err)
	}
	return nil
}

// findingsGoHere is where the page of an examination is cut.
const findingsGoHere = `<li hidden></li>`

// held keeps a page instead of sending it.
type held struct {
	header http.Header
	body   bytes.Buffer
}

func (h *held) Header() http.Header         { return h.header }
func (h *held) WriteHeader(int)             {}
func (h *held) Write(p []byte) (int, error) { return h.body.Write(p) }
