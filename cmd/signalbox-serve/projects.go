package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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

// absolute are the folders to serve: those that were named, or the user's projects, or the one around the working directory.
func absolute(named, configured []string, dir string) (folders []string, err error) {
	if len(named) == 0 {
		named = configured
	}
	if len(named) == 0 {
		named = []string{dir}
	}
	for _, name := range named {
		if name, err = filepath.Abs(name); err != nil {
			return nil, fmt.Errorf("find the project %s: %w", name, err)
		}
		root, gitDir, err := folder.Root(folder.AboveClones(name))
		if err == nil && gitDir == "" {
			err = errors.New("it is not a git repository")
		}
		if err != nil {
			return nil, &problem.Error{Err: fmt.Errorf("serve the project in %s: %w", redact.Line(name, 300), err), Code: problem.Usage,
				Hint: "name folders of projects: signalbox serve ~/src/parser ~/src/site"}
		}
		if !slices.Contains(folders, root) {
			folders = append(folders, root)
		}
	}
	return folders, nil
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// projects are the folders as projects, each with a name that no other has.
func projects(a *command.Invocation, folders []string, s *secrets, log *slog.Logger) (all []serve.Project) {
	taken := map[string]bool{}
	for _, root := range folders {
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
			p, err := app.Open(within, &opener)
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
