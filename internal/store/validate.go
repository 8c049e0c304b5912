package store

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"signalbox/internal/store/strict"
	"signalbox/internal/workflow"
)

// MaxDocument is the largest size of a document that is read, in bytes.
const MaxDocument = strict.MaxSize

// Validate reads data as strictly as a Store reads a document of that kind, and
// returns everything that is wrong with it. If path ends like a document's path
// below a project root, data must belong to the issue or the run that it names.
func Validate(kind Kind, path string, data []byte) (all []*BrokenError) {
	if kind != KindEvents {
		document, err := new(Store).document(kind, filepath.ToSlash(path))
		if err == nil {
			_, err = document.parseAny(data)
		}
		return problems(path, data, err)
	}
	last := -1
	for number := 1; len(data) > 0; number++ { // every line is a document of its own
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		event, err := strict.Decode[Transition](line, "")
		switch {
		case err != nil:
		case !whole:
			err = errors.New("the last line has no end")
		case event.Seq <= last:
			err = &workflow.InvalidError{Pointer: "/seq", Reason: fmt.Sprintf("seq %d after %d", event.Seq, last)}
		default:
			last = event.Seq
		}
		for _, problem := range problems(path, line, err) {
			problem.Line = number
			all = append(all, problem)
		}
		data = rest
	}
	return all
}

// ValidateSteps returns where the steps of a stage.json differ from those of its planning.json; both are valid.
func ValidateSteps(path string, stage, planning []byte) []*BrokenError {
	run, err := strict.Decode[workflow.Run](stage, workflow.RunVersion)
	if err != nil || len(run.Steps) == 0 {
		return problems(path, stage, err)
	}
	plan, err := strict.Decode[workflow.Plan](planning, "")
	if err != nil {
		return nil
	}
	return problems(path, stage, run.FollowsPlan(plan))
}

// problems takes joined errors apart.
func problems(path string, data []byte, err error) (all []*BrokenError) {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error }) // only errors that are joined at the top are a list
	if flaw := (*strict.Flaw)(nil); ok && !errors.As(err, &flaw) {
		for _, err := range joined.Unwrap() {
			all = append(all, problems(path, data, err)...)
		}
		return all
	}
	if data == nil {
		data = []byte{}
	}
	return []*BrokenError{broken(path, data, err)}
}
