package store

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"signalbox/internal/store/strict"
	"signalbox/internal/workflow"
)

// MaxDocument is the size above which no document is read, in bytes.
const MaxDocument = strict.MaxSize

// Validate reads data as strictly as a Store reads a document of that kind, and
// returns all that is wrong with it. Where path ends like a document's path
// below a project root, data must be of the issue or the run that it names.
func Validate(kind Kind, path string, data []byte) []*BrokenError {
	if kind == KindEvents {
		return validateEvents(path, data)
	}
	document, err := new(Store).document(kind, filepath.ToSlash(path))
	if err == nil {
		_, err = document.parseAny(data)
	}
	return problems(path, data, err)
}

// ValidateSteps says whether the steps of a stage.json follow its planning.json (R15); both are valid.
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

func problems(path string, data []byte, err error) (all []*BrokenError) {
	if data == nil {
		data = []byte{}
	}
	for _, err := range each(err) {
		all = append(all, broken(path, data, err))
	}
	return all
}

// each takes joined errors apart.
func each(err error) (all []error) {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error }) // only errors that are joined at the top are a list
	if flaw := (*strict.Flaw)(nil); !ok || errors.As(err, &flaw) {
		return []error{err}
	}
	for _, err := range joined.Unwrap() {
		all = append(all, each(err)...)
	}
	return all
}

// validateEvents reads a log: every line is a document of its own.
func validateEvents(path string, data []byte) (all []*BrokenError) {
	last := -1
	for number := 1; len(data) > 0; number++ {
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
