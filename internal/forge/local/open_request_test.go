package local_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/forge/local"
)

// The tests create by hand what a kill leaves behind: the steps are between two durable writes.
func TestOpeningARequestSurvivesAKillBetweenItsWrites(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ written, file, want bool }{
		"before the file":                          {false, false, true},
		"before the file is remembered":            {false, true, true},
		"after all, and a person removed the file": {true, false, false},
	} {
		project := newProject(t)
		f := openProject(t, project, nil)
		first := openRequest(t, f)
		path := filepath.Join(project, "requests", first.ID+".md")
		forget(t, project, c.written)
		if !c.file {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		again := openRequest(t, openProject(t, project, nil))
		if again.ID != first.ID || again.Closed == c.want {
			t.Errorf("%s: opened %+v and then %+v", name, first, again)
		}
		if _, err := os.Stat(path); (err == nil) != c.want {
			t.Errorf("%s: the file is there: %t, want %t", name, err == nil, c.want)
		}
		if entries, _ := filepath.Glob(filepath.Join(project, "requests", "*")); len(entries) > 2 {
			t.Errorf("%s: requests are %q", name, entries)
		}
	}
}

func TestOpenedRequestTakesNoNumberThatIsOrWasInUse(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	writeFile(t, filepath.Join(project, ".signalbox", "requests", "8.json"), `{"id":"RQ-20261120-008","number":8,"closed":true,"closed_at":null}`)
	f := openProject(t, project, nil)
	if got := openRequest(t, f); got.Number != 9 {
		t.Errorf("the number is %d; 7 is a file's and 8 was one's", got.Number)
	}
	writeFile(t, filepath.Join(project, "requests", "high.md"), request("RQ-20261120-900", "T"))
	if got, err := f.OpenRequest(t.Context(), "other", "T", "B"); err != nil || got.Number != 901 {
		t.Errorf("the number is %d, %v", got.Number, err)
	}
}

func openRequest(t *testing.T, f *local.Forge) forge.Request {
	t.Helper()
	opened, err := f.OpenRequest(t.Context(), "key", "It is broken", "Mend it")
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// forget makes the record say whether the file was written.
func forget(t *testing.T, project string, written bool) {
	t.Helper()
	path := filepath.Join(project, ".signalbox", "requests", "opened.json")
	data, err := os.ReadFile(path)
	var record struct {
		Last     int                       `json:"last"`
		Requests map[string]map[string]any `json:"requests"`
	}
	if err == nil {
		err = json.Unmarshal(data, &record)
	}
	if err != nil {
		t.Fatal(err)
	}
	record.Requests["key"]["written"] = written
	data, _ = json.Marshal(record)
	writeFile(t, path, string(data))
}
