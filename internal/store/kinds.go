package store

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/lazy"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// Kind is one of the documented formats, by the name of its file and its schema.
type Kind string

const (
	KindStage        Kind = "stage"        // a run: its state, steps, tests and artifacts
	KindPlanning     Kind = "planning"     // a run's plan, as the planner answered it
	KindErrors       Kind = "errors"       // why a run stopped, and what to do
	KindEvents       Kind = "events"       // a run's transitions, one per line
	KindEnvironments Kind = "environments" // how far the work on each issue is
	KindStatus       Kind = "status"       // one issue's status, in one word
	KindState        Kind = "state"        // the state of the self-healing loop
)

// Kinds lists every Kind.
var Kinds = []Kind{KindStage, KindPlanning, KindErrors, KindEvents, KindEnvironments, KindStatus, KindState}

var statusPath = lazy.Pattern(`(^|/)\.status/([1-9][0-9]{0,8})\.json$`)

// KindOf returns a document's kind, judged by its path, or else by a key that only that kind has.
func KindOf(path string, data []byte) (Kind, bool) {
	path = filepath.ToSlash(path)
	if statusPath().MatchString(path) {
		return KindStatus, true
	}
	base := filepath.Base(path)
	for _, kind := range Kinds {
		file := string(kind) + ".json"
		if kind == KindEvents {
			file = eventsFile
		}
		if kind != KindStatus && (base == file || base == file+".bak") {
			return kind, true
		}
	}
	value, err := jsontext.NewDecoder(bytes.NewBuffer(data)).ReadValue()
	if err != nil {
		return "", false
	}
	var members map[string]jsontext.Value
	if json.Unmarshal(value, &members) != nil {
		return "", false
	}
	for _, mark := range []struct {
		key  string
		kind Kind
	}{{"environments", KindEnvironments}, {"run_id", KindStage}, {"action_plan", KindPlanning}, {"reason_code", KindErrors},
		{"seq", KindEvents}, {"retry_required", KindState}, {"session", KindStatus}} {
		if _, ok := members[mark.key]; ok {
			return mark.kind, true
		}
	}
	return "", false
}

// anyDocument is a Document of any type.
type anyDocument interface {
	parseAny(data []byte) (any, error)
	migrate(ctx context.Context, write bool) ([]Fix, error)
	load(ctx context.Context) (any, error)
}

func (d *Document[T]) parseAny(data []byte) (any, error) {
	value, err := d.parse(data)
	return &value, err
}

func (d *Document[T]) load(ctx context.Context) (any, error) {
	value, err := d.Load(ctx)
	if err != nil {
		return nil, err
	}
	return &value, nil
}

// document returns the file at path as a document of a kind. If the path names the
// issue or run, the document must agree; if it doesn't, the document can be parsed
// but not opened.
func (s *Store) document(kind Kind, path string) (anyDocument, error) {
	ref, ofRun := runOf(path)
	switch kind {
	case KindStage:
		if ofRun {
			return s.Stage(ref), nil
		}
		return &Document[workflow.Run]{version: workflow.RunVersion, fix: fixRun, check: (*workflow.Run).Validate}, nil
	case KindPlanning:
		return s.Plan(ref), nil
	case KindErrors:
		return s.errors(ref), nil
	case KindEvents:
		return &Document[Transition]{}, nil
	case KindEnvironments:
		return s.Environments(), nil
	case KindState:
		return s.Health(), nil
	case KindStatus:
		if at := statusPath().FindStringSubmatch(path); at != nil {
			issue, err := strconv.Atoi(at[2])
			return s.IssueStatus(issue), err
		}
		return &Document[registry.IssueStatus]{check: func(status *registry.IssueStatus) error { return checkIssueStatus(status.Issue, status) }}, nil
	}
	return nil, fmt.Errorf("kind %q of document: %w", kind, ErrName)
}

// runOf returns the run of a path that ends in runs/<request>/<run>/<file>.
func runOf(path string) (workflow.RunRef, bool) {
	parts := strings.Split(path, "/")
	n := len(parts)
	if n < 4 || parts[n-4] != runsDir {
		return workflow.RunRef{}, false
	}
	ref := workflow.RunRef{RequestID: parts[n-3], RunID: parts[n-2]}
	return ref, validateRun(ref) == nil
}
