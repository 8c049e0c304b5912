package store

import (
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/store/strict"
	"signalbox/internal/workflow"
)

// merge is run with what others wrote since the last save.
func (w *RunWriter) merge(run *workflow.Run) (workflow.Run, error) {
	if w.theirs == nil {
		return *run, nil
	}
	// A copy through JSON, because what run points at may belong to other copies of it.
	data, err := json.Marshal(run, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return workflow.Run{}, writeError(w.folder.join(stageFile), err)
	}
	next, err := strict.Decode[workflow.Run](data, "")
	if err != nil {
		return workflow.Run{}, writeError(w.folder.join(stageFile), err)
	}
	adoptUnknown(reflect.ValueOf(&next), reflect.ValueOf(w.theirs))
	next.Signals = workflow.MergeSignals(w.seen, run.Signals, w.theirs.Signals)
	return next, nil
}

var unknownType = reflect.TypeFor[workflow.Unknown]()

// adoptUnknown gives mine the unknown keys of theirs on every level: they
// belong to other programs, who may add, change and remove them. Entries of a
// list are the same where their places are.
func adoptUnknown(mine, theirs reflect.Value) {
	switch {
	case mine.Type() == unknownType:
		mine.Set(theirs)
	case mine.Kind() == reflect.Pointer && !mine.IsNil() && !theirs.IsNil():
		adoptUnknown(mine.Elem(), theirs.Elem())
	case mine.Kind() == reflect.Slice:
		for i := range min(mine.Len(), theirs.Len()) {
			adoptUnknown(mine.Index(i), theirs.Index(i))
		}
	case mine.Kind() == reflect.Struct:
		for i := range mine.NumField() {
			if field := mine.Field(i); field.CanSet() {
				adoptUnknown(field, theirs.Field(i))
			}
		}
	}
}
