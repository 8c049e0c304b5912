package schema_test

import (
	"bytes"
	"os"
	"regexp"
	"testing"

	"signalbox/internal/schema"
	"signalbox/internal/store"
)

var example = regexp.MustCompile("(?ms)^```json (\\S+)\n(.*?)^```$")

// Whatever docs/documents.md shows, a reader accepts and the schema agrees with.
func TestEveryExampleOfTheManualIsValid(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/documents.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := map[store.Kind][]byte{}
	for _, match := range example.FindAllSubmatch(page, -1) {
		path, text := string(match[1]), match[2]
		kind, ok := store.KindOf(path, nil)
		if !ok {
			t.Fatalf("%s is no document's path", path)
		}
		for _, problem := range store.Validate(kind, path, text) {
			t.Errorf("%s: %s", problem.Place(), problem.Reason)
		}
		documents := [][]byte{text}
		if kind == store.KindEvents {
			documents = bytes.Split(bytes.TrimSpace(text), []byte("\n"))
		}
		for _, document := range documents {
			breaches, err := schema.Check(string(kind), document)
			if err != nil || len(breaches) > 0 {
				t.Errorf("%s: %v, %v", path, breaches, err)
			}
		}
		examples[kind] = text
	}
	for _, kind := range store.Kinds {
		if examples[kind] == nil {
			t.Errorf("no example of %s", kind)
		}
	}
	if problems := store.ValidateSteps("stage.json", examples[store.KindStage], examples[store.KindPlanning]); len(problems) > 0 {
		t.Errorf("the run does not follow its plan: %v", problems)
	}
}

func TestASchemaSaysWhereAndWhatIsWrong(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		`{"environments": [{"env_id": ""}]}`: "/environments/0",
		`{"environments": {}}`:               "/environments",
		`{}`:                                 "",
	} {
		breaches, err := schema.Check("environments", []byte(document))
		found := false
		for _, b := range breaches {
			found = found || b.Pointer == want && b.Reason != ""
		}
		if err != nil || !found {
			t.Errorf("%s: %v, %v", document, breaches, err)
		}
	}
	if breaches, err := schema.Check("environments", []byte(`{"environments": [], "x": 1}`)); err != nil || len(breaches) > 0 {
		t.Errorf("a foreign key is refused: %v, %v", breaches, err)
	}
}
