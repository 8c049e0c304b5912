package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/git/gitcmd"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/serve"
	"signalbox/internal/wire/folder"
)

// folders are the projects to serve: those that were named, or the user's, or the one around the working directory. Of the user's, one that is gone is
// no reason to leave the others.
func folders(named, configured []string, dir string, gone func(error)) (roots []string, err error) {
	all := named
	if len(all) == 0 {
		all = configured
	}
	if len(all) == 0 {
		all = []string{dir}
	}
	for _, name := range all {
		root, err := rootOf(name)
		if err != nil && len(named) == 0 && len(configured) > 1 {
			gone(err)
			continue
		}
		if err != nil {
			return nil, err
		}
		if !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	if len(roots) == 0 {
		return nil, &problem.Error{Err: errors.New("none of your projects is there"), Hint: "correct serve.projects of your own configuration", Code: problem.Usage}
	}
	return roots, nil
}

func rootOf(name string) (string, error) {
	name, err := filepath.Abs(name)
	root, gitDir := "", ""
	if err == nil {
		_, err = os.Stat(name)
	}
	if errors.Is(err, os.ErrNotExist) {
		err = errors.New("there is no such folder")
	}
	if err == nil {
		root, gitDir, err = folder.Root(folder.AboveClones(name))
	}
	if err == nil && gitDir == "" {
		err = errors.New("it is not a git repository")
	}
	if err != nil {
		return "", &problem.Error{Err: fmt.Errorf("serve the project in %s: %w", redact.Line(name, 300), err), Code: problem.Usage,
			Hint: "name folders of projects: signalbox serve ~/src/parser ~/src/site"}
	}
	return root, nil
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// projects are the folders as projects, each with a name that no other has.
func projects(a *command.Invocation, roots []string, s *secrets, log *slog.Logger) (all []serve.Project) {
	taken := map[string]bool{}
	for _, root := range roots {
		base := strings.Trim(notInNames.ReplaceAllString(filepath.Base(root), "-"), "._-")
		base = base[:min(len(base), 50)]
		if base == "" {
			base = "project"
		}
		name := base
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		taken[name] = true
		opener := *a.Opener
		opener.Dir, opener.AskTrust, opener.Log, opener.Notices = root, nil, log.With("project", name), &sync.WaitGroup{}
		opener.Warn = func(format string, args ...any) { log.Warn(fmt.Sprintf(format, args...), "project", name) }
		opener.Mended = func(path string, notes []string) { log.Info("fixed", "project", name, "path", path, "notes", notes) }
		opener.Learn = func(r *redact.Redactor) { s.learn(name, r) }
		all = append(all, serve.Project{Name: name, Opener: &opener, Open: func(ctx context.Context) (*app.App, error) {
			within, end := gitcmd.Scope(ctx)
			defer end()
			obeys := opener // Trusted has it obey the project's files; a page only shows them
			p, err := app.Open(within, &obeys)
			if err == nil {
				p, err = p.Trusted(within)
			}
			return p, err
		}})
	}
	return all
}

// secrets takes the secrets of all projects out of texts.
type secrets struct {
	mu sync.Mutex
	of map[string]*redact.Redactor
}

func (s *secrets) learn(project string, r *redact.Redactor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string]*redact.Redactor{}
	}
	s.of[project] = r
}

func (s *secrets) hide(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text = redact.Named(redact.Clean(text))
	for _, r := range s.of {
		text = r.String(text)
	}
	return text
}

// replace cleans what is logged, and adds to an error what to do about it.
func (s *secrets) replace(_ []string, a slog.Attr) slog.Attr {
	switch value := a.Value.Any().(type) {
	case error:
		text := value.Error()
		if p := (*problem.Error)(nil); errors.As(value, &p) && p.Hint != "" {
			text += "; " + p.Hint
		}
		a.Value = slog.StringValue(s.hide(text))
	case string:
		a.Value = slog.StringValue(s.hide(value))
	case []string:
		a.Value = slog.StringValue(s.hide(strings.Join(value, "; ")))
	}
	return a
}
