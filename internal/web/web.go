// Package web is the front end for browsers: a board of runs, a page for each, and what else people look at, as HTML that works without a script
// and is kept up to date by one small script of ours. Every fact on a page comes from the documents; a page shows nothing that its server remembers.
// It refuses to know who may come in, which package access decides before a request arrives here, and how the process is served.
package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"signalbox/internal/access"
	"signalbox/internal/app"
	"signalbox/internal/app/background"
	"signalbox/internal/language"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
)

// Open opens a project as it is now, and returns what closes it again.
type Open func(ctx context.Context) (context.Context, *app.App, func(), error)

// Config is what the pages need.
type Config struct {
	// Projects are opened by the names that they have in addresses: letters, digits, "-", "_" and ".".
	Projects map[string]Open
	// Starter starts the processes that execute runs. They outlive the server.
	Starter background.Starter
	// Audit records who ordered what; nil records nothing.
	Audit  *access.Audit
	Logger *slog.Logger
}

// site is all pages of one server.
type site struct {
	Config
	// projects are those of Config, names in order.
	projects map[string]*project
	names    []string
	pages    map[language.Language]map[string]*template.Template
	// orders has one order for a run given at a time.
	orders sync.Map
}

// New returns the handler of all pages. It watches the projects until ctx ends.
func New(ctx context.Context, c Config) (http.Handler, error) {
	s := &site{Config: c, projects: map[string]*project{}, names: slices.Sorted(maps.Keys(c.Projects)), pages: map[language.Language]map[string]*template.Template{}}
	for _, name := range s.names {
		if !projectName.MatchString(name) {
			return nil, fmt.Errorf("the project's name %q can't be in an address", name)
		}
		pr := &project{site: s, ctx: ctx, name: name, open: c.Projects[name]}
		s.projects[name] = pr
		go func() { // the first page says why, if it can't be opened
			if _, left, err := pr.look(); err == nil {
				left()
			}
		}()
	}
	for _, l := range language.Languages {
		s.pages[l] = templates(l)
	}
	mux := http.NewServeMux()
	for pattern, p := range pages {
		mux.Handle("GET "+pattern, s.serves(access.Viewer, p.template, p.build))
	}
	for pattern, f := range posts {
		mux.Handle("POST "+pattern, s.takes(f.role, f.do))
	}
	mux.Handle("GET /events", s.guards(access.Viewer, (*visit).boardEvents))
	mux.Handle("GET /p/{project}/events", s.guards(access.Viewer, (*visit).boardEvents))
	mux.Handle("GET /p/{project}/runs/{run}/events", s.guards(access.Viewer, (*visit).runEvents))
	mux.Handle("GET /p/{project}/runs/{run}/documents/{document}", s.guards(access.Viewer, (*visit).document))
	mux.Handle("GET /p/{project}/runs/{run}/log/{log}", s.guards(access.Viewer, (*visit).wholeLog))
	mux.Handle("POST /p/{project}/preview", s.guards(access.Operator, (*visit).preview))
	mux.Handle("POST /p/{project}/doctor", s.guards(access.Operator, (*visit).examine))
	mux.HandleFunc("POST /language", chooseLanguage)
	mux.HandleFunc("GET /assets/{name}", serveAsset)
	mux.Handle("GET /", s.serves(access.Viewer, "problem", func(*visit) (page, error) {
		return page{}, &problem.Error{Code: problem.NotFound}
	}))
	return mux, nil
}

var projectName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// pages are what people look at, by pattern. A page's build returns what its template shows.
var pages = map[string]struct {
	template string
	build    func(*visit) (page, error)
}{
	"/{$}":                            {"board", (*visit).board},
	"/p/{project}/{$}":                {"board", (*visit).board},
	"/p/{project}/runs/{run}":         {"run", (*visit).run},
	"/p/{project}/runs/{run}/diff":    {"diff", (*visit).diff},
	"/p/{project}/runs/{run}/history": {"list", (*visit).history},
	"/p/{project}/new":                {"new", (*visit).newRequest},
	"/p/{project}/environments":       {"list", (*visit).environments},
	"/p/{project}/sessions":           {"list", (*visit).sessions},
	"/p/{project}/sessions/{session}": {"list", (*visit).session},
	"/p/{project}/health":             {"list", (*visit).health},
	"/p/{project}/cost":               {"list", (*visit).costs},
	"/p/{project}/doctor":             {"doctor", (*visit).doctor},
}

// posts are what people order, by pattern. One says what to tell, and the address to look at then.
var posts = map[string]struct {
	role access.Role
	do   func(*visit) (said, then string, err error)
}{
	"/p/{project}/runs/{run}/orders": {access.Operator, (*visit).order},
	"/p/{project}/runs/{run}/review": {access.Operator, (*visit).review},
	"/p/{project}/environments":      {access.Operator, (*visit).removeEnvironments},
	"/p/{project}/new":               {access.Operator, (*visit).openRequest},
}

// visit is one request for a page.
type visit struct {
	*site
	w    http.ResponseWriter
	r    *http.Request
	lang language.Language
	user access.User
	// project is nil on a page about all of them.
	project *project
}

// page is what a template shows, in the frame.
type page struct {
	// Title is the window's.
	Title string
	// Name is the entry of the navigation that the page belongs to.
	Name string
	// Events is where the page hears of changes, Last what it shows already.
	Events, Last string
	Content      any
	// Keys are those of this page alone. With names the style and the script that it has beside those of all pages.
	Keys []keys
	With string
}

// Say is a text in the visitor's language.
func (v *visit) Say(name string, args ...any) string { return v.lang.Page(name, args...) }

// path is an address below the visit's project.
func (v *visit) path(rest string) string { return v.project.path(rest) }

// line and text are what a person or a program wrote, safe to show: without secrets and without what can't be seen.
func line(p *app.App, s string, limit int) string { return p.Redact.Line(s, limit) }
func text(p *app.App, s string) string            { return p.Redact.Text(s) }

// guards prepares a visit for who has the role.
func (s *site) guards(role access.Role, do func(*visit) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &visit{site: s, w: w, r: r, lang: languageOf(r), user: access.From(r.Context())}
		err := func() error {
			if !v.user.May(role) {
				return errForbidden{role}
			}
			if name := r.PathValue("project"); name != "" {
				if v.project = s.projects[name]; v.project == nil {
					return &problem.Error{Code: problem.NotFound}
				}
			}
			return do(v)
		}()
		if err != nil && r.Context().Err() == nil {
			v.failed(err)
		}
	})
}

// serves shows a page.
func (s *site) serves(role access.Role, name string, build func(*visit) (page, error)) http.Handler {
	return s.guards(role, func(v *visit) error {
		p, err := build(v)
		if err != nil {
			return err
		}
		return v.show(http.StatusOK, name, p)
	})
}

// takes does what a form orders. The script gets the words alone, and a browser without it the page to look at then.
func (s *site) takes(role access.Role, do func(*visit) (said, then string, err error)) http.Handler {
	return s.guards(role, func(v *visit) error {
		v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
		if err := v.r.ParseForm(); err != nil {
			return &problem.Error{Err: fmt.Errorf("read the form: %w", err), Code: problem.Usage}
		}
		said, then, err := do(v)
		if err != nil {
			return err
		}
		if v.scripted() {
			v.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			v.w.Header().Set("X-Then", then)
			_, err = v.w.Write([]byte(said))
			return err
		}
		http.Redirect(v.w, v.r, then, http.StatusSeeOther)
		return nil
	})
}

// maxForm bounds a form, in bytes.
const maxForm = 256 << 10

// scripted reports whether our script sent the request.
func (v *visit) scripted() bool { return v.r.Header.Get("X-Signalbox-Script") != "" }

// errForbidden: the user lacks a role.
type errForbidden struct{ role access.Role }

func (e errForbidden) Error() string { return "it takes the role " + e.role.String() }

// failed shows an error with what to do about it.
func (v *visit) failed(err error) {
	status, content := http.StatusUnprocessableEntity, struct{ Title, What, Hint string }{"problem", redact.Joined(err.Error(), 2000), ""}
	var p *problem.Error
	var forbidden errForbidden
	var tooLarge *http.MaxBytesError
	if errors.As(err, &p) {
		content.Hint = redact.Line(p.Hint, 1000)
	}
	switch {
	case errors.As(err, &forbidden):
		status, content.Title, content.What = http.StatusForbidden, "forbidden", v.Say("needs-role", forbidden.role)
	case errors.As(err, &tooLarge):
		status = http.StatusRequestEntityTooLarge
	case problem.CodeOf(err) == problem.NotFound:
		if status = http.StatusNotFound; err.Error() == "" {
			content.Title, content.What = "not-found", v.Say("not-found-what")
		}
	case problem.CodeOf(err) == problem.Held:
		status = http.StatusConflict
	}
	if v.project != nil { // what it says may be untrusted and hold secrets
		if p := v.project.opened(); p != nil {
			content.What, content.Hint = text(p, content.What), text(p, content.Hint)
		}
	}
	if v.scripted() {
		v.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		v.w.WriteHeader(status)
		_, _ = v.w.Write([]byte(strings.TrimSuffix(content.What+"\n"+content.Hint, "\n")))
		return
	}
	if err := v.show(status, "problem", page{Title: v.Say(content.Title), Content: content}); err != nil {
		v.Logger.Warn("show a page", "path", v.r.URL.Path, "err", err)
	}
}

// frame is what the layout shows around a page.
type frame struct {
	page
	Page, Language, OtherLanguage, Path, Home, Project, User, Version string
	Projects                                                          []string
	Navigation                                                        []navigation
	Keys                                                              []keys
	MayOperate, MayApprove                                            bool
	Content                                                           template.HTML
}

type navigation struct {
	Name, Href string
	Current    bool
}

type keys struct {
	Keys []string
	Name string
}

var shortcuts = []keys{{[]string{"j", "k"}, "key-move"}, {[]string{"Enter"}, "key-open"}, {[]string{"/"}, "key-search"}, {[]string{"b"}, "key-board"},
	{[]string{"n"}, "key-new"}, {[]string{"Esc"}, "key-close"}, {[]string{"?"}, "key-help"}}

// navigated are the pages of a project that the navigation leads to, by the names of their texts, with their addresses.
var navigated = []struct{ name, path string }{{"board", ""}, {"new-request", "new"}, {"environments", "environments"}, {"sessions", "sessions"},
	{"health", "health"}, {"cost", "cost"}, {"doctor", "doctor"}}

// show writes a page.
func (v *visit) show(status int, name string, p page) error {
	t := v.pages[v.lang][name]
	content, err := render(t, name, p.Content)
	if err != nil {
		return fmt.Errorf("show %s: %w", name, err)
	}
	f := frame{page: p, Page: name, Language: string(v.lang), OtherLanguage: string(other(v.lang)), Path: v.r.URL.RequestURI(), Home: "/", User: v.user.Name, Version: version(),
		Projects: v.names, Keys: append(slices.Clip(p.Keys), shortcuts...), MayOperate: v.user.May(access.Operator), MayApprove: v.user.May(access.Approver), Content: content}
	if v.r.Method != http.MethodGet {
		f.Path = "/"
	}
	at := v.project
	if at == nil && len(v.names) == 1 {
		at = v.projects[v.names[0]]
	}
	if at != nil {
		f.Project = at.name
		if len(v.names) > 1 {
			f.Home = at.path("")
		}
		for _, n := range navigated {
			f.Navigation = append(f.Navigation, navigation{n.name, at.path(n.path), n.name == p.Name})
		}
	} else {
		f.Navigation = []navigation{{"board", "/", p.Name == "board"}}
	}
	if v.user.Only != "" { // a share link shows one run: not which projects there are, nor their other pages
		f.Projects, f.Navigation = nil, nil
	}
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, "layout", f); err != nil {
		return fmt.Errorf("show %s: %w", name, err)
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.Header().Set("Vary", "Accept-Language, Accept-Encoding, Cookie")
	return v.write(status, out.Bytes())
}

// write writes an answer, compressed if it is worth it.
func (v *visit) write(status int, body []byte) error {
	if len(body) < 1<<10 || !strings.Contains(v.r.Header.Get("Accept-Encoding"), "gzip") {
		v.w.WriteHeader(status)
		_, err := v.w.Write(body)
		return err
	}
	v.w.Header().Set("Content-Encoding", "gzip")
	v.w.WriteHeader(status)
	z, _ := gzip.NewWriterLevel(v.w, gzip.BestSpeed)
	_, err := z.Write(body)
	return errors.Join(err, z.Close())
}

// render is a part of a page.
func render(t *template.Template, name string, data any) (template.HTML, error) {
	var out strings.Builder
	err := t.ExecuteTemplate(&out, name, data)
	return template.HTML(out.String()), err //nolint:gosec // a template escaped it
}

// part is a part of a page in a language, for templates that are ours and data that fits.
func (s *site) part(l language.Language, of, name string, data any) (template.HTML, error) {
	return render(s.pages[l][of], name, data)
}

// chooseLanguage remembers the visitor's language in their browser.
func chooseLanguage(w http.ResponseWriter, r *http.Request) {
	to, back := r.PostFormValue("to"), r.PostFormValue("back")
	if !slices.Contains(language.Languages, language.Language(to)) {
		http.Error(w, "no such language", http.StatusBadRequest)
		return
	}
	if at, err := url.Parse(back); err != nil || at.Host != "" || at.Scheme != "" || !strings.HasPrefix(back, "/") || strings.HasPrefix(back, "//") || strings.Contains(back, `\`) {
		back = "/"
	}
	http.SetCookie(w, &http.Cookie{Name: languageCookie, Value: to, Path: "/", MaxAge: 365 * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil})
	http.Redirect(w, r, back, http.StatusSeeOther)
}

const languageCookie = "signalbox-language"

// languageOf is the language that the visitor chose, or their browser asks for first.
func languageOf(r *http.Request) language.Language {
	if c, err := r.Cookie(languageCookie); err == nil && slices.Contains(language.Languages, language.Language(c.Value)) {
		return language.Language(c.Value)
	}
	for asked := range strings.SplitSeq(r.Header.Get("Accept-Language"), ",") {
		asked, _, _ = strings.Cut(strings.TrimSpace(strings.ToLower(asked)), ";")
		asked, _, _ = strings.Cut(asked, "-")
		if slices.Contains(language.Languages, language.Language(asked)) {
			return language.Language(asked)
		}
	}
	return language.English
}

func other(l language.Language) language.Language {
	if l == language.Japanese {
		return language.English
	}
	return language.Japanese
}
