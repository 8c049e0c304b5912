package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"signalbox/internal/health"
	"signalbox/internal/lazy"
	"signalbox/internal/registry"
	"signalbox/internal/store/strict"
	"signalbox/internal/workflow"
)

// formerDir is where an older tool keeps environments.json.
const formerDir = ".opencode"

// Environments returns environments.json.
func (s *Store) Environments() *Document[registry.Environments] {
	return &Document[registry.Environments]{store: s, dir: ".", former: formerDir, name: "environments.json", file: publicFile,
		mkd: publicDir, lock: "document.environments.lock", initial: func() registry.Environments { return registry.Environments{} },
		fix: func(doc *registry.Environments) { s.reportFixed("environments.json", doc.Fix()) }, check: checkEnvironments}
}

// reportFixed reports what was fixed while a document was read.
func (s *Store) reportFixed(path string, notes []string) {
	if s != nil && s.fixed != nil && len(notes) > 0 {
		s.fixed(path, notes)
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

// Health returns state.json. state.json.bak beside it is the same or one write ahead, and the totals of both
// have a file of their own, because they only grow.
func (s *Store) Health() *Document[health.State] {
	return &Document[health.State]{store: s, dir: ".", name: "state.json", file: publicFile, mkd: publicDir,
		lock: "document.health.lock", initial: func() health.State { return health.New(s.clock()) },
		check: (*health.State).Check, backup: true, ahead: s.keepTotals, anew: s.restoreTotals}
}

var recordID = lazy.Pattern(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// PrivateFolders are the folders below .signalbox that only Signalbox writes, so that it trusts their content.
var PrivateFolders = []string{"base", "environments", "heal", "issues", "locks", "merges", "notices", "numbers", "proposals", "pulls", "requests", "serve", "sessions", "spending", "traces"}

// Record returns a driver's private document .signalbox/<kind>/<id>.json. It starts as the zero T.
func Record[T any](s *Store, kind, id string) *Document[T] {
	return CheckedRecord[T](s, kind, id, nil)
}

// CheckedRecord is Record with a check that must hold before every write and after every read.
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

// sessionName is that of an issue's session: signalbox-issue-42, or another prefix that a project sets.
var sessionName = lazy.Pattern(`^[a-z][a-z0-9-]{0,40}-issue-[1-9][0-9]{0,9}$`)

// SpendingDir is where a project's processes record what their agents use in a day, relative to Root.
const SpendingDir = privateDir + "/spending"

// SessionDir returns the slash path of a session's folder below the project root.
func SessionDir(name string) (string, error) {
	if !sessionName().MatchString(name) {
		return "", fmt.Errorf("session %q: %w", name, ErrName)
	}
	return privateDir + "/sessions/" + name, nil
}

// Session returns the document of an agent's session, session.json in its folder.
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

// The totals of state.json have a file of their own: if neither state.json nor its backup can be read, the
// loop begins anew and keeps its totals.
const (
	totalsDir  = privateDir + "/heal"
	totalsFile = "totals.json"
)

// keepTotals writes the totals of a state.json that is about to be written, so that they are never behind it.
func (s *Store) keepTotals(state []byte) error {
	var totals health.Totals
	if err := json.Unmarshal(state, &totals); err != nil {
		return writeError(totalsDir+"/"+totalsFile, err)
	}
	data, err := s.encode(totals, indented)
	if err != nil {
		return writeError(totalsDir+"/"+totalsFile, err)
	}
	f, err := s.makeFolder(totalsDir, privateMode)
	if err != nil {
		return err
	}
	defer f.close()
	return f.put(totalsFile, data, privateFile)
}

// restoreTotals gives a new state the totals of the one before. Unreadable totals are lost.
func (s *Store) restoreTotals(h *health.State) {
	f, err := s.openFolder(totalsDir)
	if err != nil {
		return
	}
	defer f.close()
	if data, err := f.read(totalsFile); err == nil {
		if totals, err := strict.Decode[health.Totals](data, ""); err == nil {
			h.RestoreTotals(totals)
		}
	}
}
