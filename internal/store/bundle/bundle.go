// Package bundle is a run as a set of files that one checkout of a project hands to another: its documents, its forge's records
// about it, and the names of the refs that hold its work. Whoever brings a bundle is a stranger, so Open refuses every file that it
// doesn't know, and every document that a Store would refuse. It knows no git, no forge and no judgement of which of two bundles counts.
package bundle

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/lazy"
	"signalbox/internal/store"
	"signalbox/internal/store/strict"
	"signalbox/internal/workflow"
)

// Limits of a bundle, in bytes. A document may be as large as a Store reads; of a log only the end is taken.
const (
	MaxFile  = store.MaxDocument
	MaxTotal = 64 << 20
	maxLog   = 64 << 10
	maxPatch = 1 << 20
)

// version is that of the format.
const version = "1"

// File is one file of a bundle: its path there, with slashes.
type File struct {
	Path    string
	Content []byte
}

// Ref is a ref that holds work of the run. Its commit travels beside the bundle.
type Ref struct {
	Name string `json:"name"`
	ID   string `json:"id"`
}

// Manifest says what a bundle is of.
type Manifest struct {
	Version   string `json:"version"`
	Number    int    `json:"number"`
	RequestID string `json:"request_id"`
	RunID     string `json:"run_id"`
	Refs      []Ref  `json:"refs"`
	// LeftOut names the files of the run that are not in the bundle, and Cut those of which only the end is.
	LeftOut []string `json:"left_out,omitempty"`
	Cut     []string `json:"cut,omitempty"`
}

// Bundle is a run with everything that another checkout needs to go on with it.
type Bundle struct {
	Manifest Manifest
	Run      workflow.Run
	files    []File // without the manifest, by path
}

// Paths within a bundle. The parts below runFolder are named as in the run's folder.
const (
	manifestFile = "manifest.json"
	sealFile     = "seal"
	runFolder    = "run/"
	recordFolder = "records/"
	stagePath    = runFolder + "stage.json"
	eventsPath   = runFolder + "events.jsonl"
	ordersPath   = "orders.json"
)

var (
	documentPath = lazy.Expression{Text: `^run/((?:stage|planning|errors)\.json|events\.jsonl|report\.md)$`}
	logPath      = lazy.Expression{Text: `^run/logs/[a-z][a-z0-9-]{0,31}\.[A-Za-z0-9][A-Za-z0-9_-]{0,63}\.[0-9]{1,6}\.log$`}
	patchPath    = lazy.Expression{Text: `^run/patches/[A-Za-z0-9][A-Za-z0-9._-]{0,63}\.patch$`}
	recordPath   = lazy.Expression{Text: `^records/([a-z]+)/([a-z0-9-]+)\.json$`}
	requestID    = lazy.Expression{Text: `^[A-Z0-9][A-Za-z0-9._-]{0,63}$`}
	runID        = lazy.Expression{Text: `^[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$`}
	keptRef      = lazy.Expression{Text: `^refs/signalbox/kept/[1-9][0-9]{0,8}/[0-9a-f-]+$`}
)

// record is a driver's private document, of which only its keys are known here.
type record struct {
	Unknown workflow.Unknown `json:",embed"`
}

// Files returns all files of the bundle, with a seal if there is a key.
func (b *Bundle) Files(key string) ([]File, error) {
	manifest, err := json.Marshal(b.Manifest, jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("write the manifest: %w", err)
	}
	files := append([]File{{manifestFile, append(manifest, '\n')}}, b.files...)
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	if key == "" {
		return files, nil
	}
	return append(files, File{sealFile, []byte(sealOf(files, key) + "\n")}), nil
}

// Orders is what the checkout remembered of orders on the forge, as its intake wrote it; empty if there were none.
func (b *Bundle) Orders() []byte { return b.content(ordersPath) }

// Events are the lines of the run's events.jsonl: its history, which grows and never changes.
func (b *Bundle) Events() []byte { return b.content(eventsPath) }

func (b *Bundle) content(path string) []byte {
	for _, f := range b.files {
		if f.Path == path {
			return f.Content
		}
	}
	return nil
}

// Open reads the bundle of request number, and checks everything in it. With a key the seal must be that key's; ErrSeal if it isn't.
func Open(number int, files []File, key string) (*Bundle, error) {
	b := &Bundle{}
	if key != "" {
		if err := checkSeal(files, key); err != nil {
			return nil, err
		}
	}
	for _, f := range files {
		switch f.Path {
		case manifestFile:
			manifest, err := strict.Decode[Manifest](f.Content, version)
			if err != nil {
				return nil, fmt.Errorf("read the manifest: %w", err)
			}
			b.Manifest = manifest
		case sealFile:
		default:
			b.files = append(b.files, f)
		}
	}
	if b.Manifest.Version != version || b.Manifest.Number != number {
		return nil, fmt.Errorf("it is not a state of number %d", number)
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	return b, nil
}

// check refuses what a Store would refuse, and everything that is none of the run's.
func (b *Bundle) check() error {
	m := &b.Manifest
	if !requestID.Regexp().MatchString(m.RequestID) || strings.Contains(m.RequestID, "..") || !runID.Regexp().MatchString(m.RunID) {
		return fmt.Errorf("%q of %q is no run", m.RunID, m.RequestID)
	}
	for _, f := range b.files {
		if err := b.checkFile(f); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	run, err := strict.Decode[workflow.Run](b.content(stagePath), workflow.RunVersion)
	if err != nil {
		return fmt.Errorf("%s: %w", stagePath, err)
	}
	b.Run = run
	j := &run.Details
	if ref := workflow.RefOf(&run); ref.RequestID != m.RequestID || ref.RunID != m.RunID || j.Number != m.Number {
		return fmt.Errorf("%s is of run %s, number %d", stagePath, ref, j.Number)
	}
	if problems := store.ValidateSteps(stagePath, b.content(stagePath), b.content(runFolder+"planning.json")); len(run.Steps) > 0 && len(problems) > 0 {
		return problems[0]
	}
	for _, f := range b.files {
		if err := b.checkRecord(f); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	for _, ref := range m.Refs {
		kept := keptRef.Regexp().MatchString(ref.Name) && strings.HasPrefix(ref.Name, keptFolder(&run))
		if !kept && (j.Branch == "" || ref.Name != "refs/heads/"+j.Branch) {
			return fmt.Errorf("the ref %q is none of the run's", ref.Name)
		}
	}
	return nil
}

// keptFolder is where the work of a run is kept, as place names it.
func keptFolder(run *workflow.Run) string {
	return fmt.Sprintf("refs/signalbox/kept/%d/%s-", run.Details.Number, run.RunID)
}

func (b *Bundle) checkFile(f File) error {
	limit := MaxFile
	switch {
	case f.Path == ordersPath, recordPath.Regexp().MatchString(f.Path):
		return nil // they are read by those who write them, and records once the run is known
	case logPath.Regexp().MatchString(f.Path):
		limit = 2 * maxLog
	case patchPath.Regexp().MatchString(f.Path):
		limit = maxPatch
	case !documentPath.Regexp().MatchString(f.Path):
		return errors.New("a state has no such file")
	}
	if len(f.Content) > limit {
		return fmt.Errorf("it has %d bytes", len(f.Content))
	}
	name := strings.TrimPrefix(f.Path, runFolder)
	kind, known := map[string]store.Kind{"stage.json": store.KindStage, "planning.json": store.KindPlanning, "errors.json": store.KindErrors, "events.jsonl": store.KindEvents}[name]
	if !known {
		return nil
	}
	ref := workflow.RunRef{RequestID: b.Manifest.RequestID, RunID: b.Manifest.RunID}
	at := store.RunDir(ref) + "/" + name
	if problems := store.Validate(kind, at, f.Content); len(problems) > 0 {
		return problems[0]
	}
	return nil
}

// checkRecord refuses a record that is not about this run, because it would replace another one's.
func (b *Bundle) checkRecord(f File) error {
	at := recordPath.Regexp().FindStringSubmatch(f.Path)
	if at == nil {
		return nil
	}
	if !slices.Contains(recordsOf(&b.Run), at[1]+"/"+at[2]) {
		return errors.New("it is about something else")
	}
	content, err := strict.Decode[record](f.Content, "")
	if err != nil {
		return err
	}
	is := func(key string, wanted any) error {
		text, err := json.Marshal(wanted)
		if err == nil && string(content.Unknown[key]) != string(text) {
			err = fmt.Errorf("%s is not %s", key, text)
		}
		return err
	}
	j := &b.Run.Details
	switch at[1] {
	case "requests":
		return errors.Join(is("id", b.Run.RequestID), is("number", j.Number))
	case "pulls", "proposals":
		return errors.Join(is("number", j.PullRequest.Number), is("branch", j.Branch), is("base", j.Base))
	}
	return nil
}

// recordsOf are the records that the drivers of forges keep about a run, as kind/id: comments on the request, the request as the run
// saw it first, the pull request and the comments on it.
func recordsOf(run *workflow.Run) (names []string) {
	number := strconv.Itoa(run.Details.Number)
	names = []string{"requests/" + number, "issues/" + number, "issues/" + number + "-request"}
	if pr := run.Details.PullRequest; pr != nil && pr.Number > 0 {
		pull := strconv.Itoa(pr.Number)
		names = append(names, "pulls/"+pull, "proposals/"+pull, "issues/pull-"+pull)
	}
	return names
}
