package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/health"
	"signalbox/internal/lazy"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// formerDir is where an older tool keeps environments.json.
const formerDir = ".opencode"

// Environments is environments.json (E1).
func (s *Store) Environments() *Document[registry.Environments] {
	return &Document[registry.Environments]{store: s, dir: ".", former: formerDir, name: "environments.json", file: publicFile,
		mkd: publicDir, lock: "document.environments.lock", initial: func() registry.Environments { return registry.Environments{} },
		mend: func(doc *registry.Environments) { s.tell("environments.json", doc.Fix()) }, check: checkEnvironments}
}

// tell says what was mended while a document was read.
func (s *Store) tell(path string, notes []string) {
	if s != nil && s.mended != nil && len(notes) > 0 {
		s.mended(path, notes)
	}
}

func checkEnvironments(doc *registry.Environments) error {
	seen := map[string]bool{}
	for i, env := range doc.Environments {
		if env.EnvID == "" || seen[env.EnvID] {
			return &workflow.InvalidError{Pointer: fmt.Sprintf("/environments/%d/env_id", i),
				Reason: fmt.Sprintf("environments[%d].env_id %q must be set and unique", i, env.EnvID)}
		}
		seen[env.EnvID] = true
	}
	return nil
}

// Health is state.json (H1). What it says state.json.bak beside it says too, or what comes next (H5), and of
// both the totals are kept (H4).
func (s *Store) Health() *Document[health.State] {
	return &Document[health.State]{store: s, dir: ".", name: "state.json", file: publicFile, mkd: publicDir,
		lock: "document.health.lock", initial: func() health.State { return health.New(s.clock()) },
		check: (*health.State).Check, backup: true, ahead: s.keepTotals, anew: s.goOnWithTotals}
}

var recordID = lazy.Pattern(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// PrivateFolders are those below .signalbox which Signalbox alone writes, and believes what is in them.
var PrivateFolders = []string{"base", "environments", "heal", "locks", "merges", "numbers", "pulls", "requests", "sessions", "spending"}

// Record is a driver's private document .signalbox/<kind>/<id>.json. It starts as the zero T.
func Record[T any](s *Store, kind, id string) *Document[T] {
	return CheckedRecord[T](s, kind, id, nil)
}

// CheckedRecord is Record with what must hold before every write and after every read.
func CheckedRecord[T any](s *Store, kind, id string, check func(*T) error) *Document[T] {
	d := &Document[T]{store: s, dir: privateDir + "/" + kind, name: id + ".json", file: privateFile, mkd: privateMode,
		lock: "document." + kind + ".lock", initial: func() T { var zero T; return zero }, check: check}
	if !slices.Contains(PrivateFolders, kind) || !recordID().MatchString(id) || strings.Contains(id, "..") || kind == "locks" {
		d.err = fmt.Errorf("record %q of kind %q: %w", id, kind, ErrName)
	}
	return d
}

// Records lists the ids of kind, sorted.
func (s *Store) Records(ctx context.Context, kind string) ([]string, error) {
	if !slices.Contains(PrivateFolders, kind) {
		return nil, fmt.Errorf("records of kind %q: %w", kind, ErrName)
	}
	entries, err := s.list(privateDir + "/" + kind)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, entry := range entries {
		if id, ok := strings.CutSuffix(entry.Name(), ".json"); ok && recordID().MatchString(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, ctx.Err()
}

// sessionName is an issue's: signalbox-issue-42, under whatever prefix a project has.
var sessionName = lazy.Pattern(`^[a-z][a-z0-9-]{0,40}-issue-[1-9][0-9]{0,9}$`)

// SpendingDir is where the processes of a project keep what their agents use in a day, relative to Root.
const SpendingDir = privateDir + "/spending"

// SessionDir is the slash path of a session's folder below the project root.
func SessionDir(name string) (string, error) {
	if !sessionName().MatchString(name) {
		return "", fmt.Errorf("session %q: %w", name, ErrName)
	}
	return privateDir + "/sessions/" + name, nil
}

// Session is the document of an agent's session, session.json in its folder.
func Session[T any](s *Store, name string) *Document[T] {
	dir, err := SessionDir(name)
	return &Document[T]{store: s, dir: dir, name: "session.json", file: privateFile, mkd: privateMode, err: err,
		lock: "document.sessions.lock", initial: func() T { var zero T; return zero }}
}

// Sessions lists the names of all sessions, sorted.
func (s *Store) Sessions(ctx context.Context) ([]string, error) {
	entries, err := s.list(privateDir + "/sessions")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() && sessionName().MatchString(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	return names, ctx.Err()
}
