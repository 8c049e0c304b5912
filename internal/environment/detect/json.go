package detect

import (
	"fmt"

	"github.com/go-json-experiment/json"
)

// plainResult is a Result without its methods.
type plainResult Result

// document is a Result as it is written: what the files hold is in one object by their names.
type document struct {
	DetectedFiles map[string]string `json:"detected_files"`
	Rest          plainResult       `json:",embed"`
}

// MarshalJSON writes the contents of the files as detected_files {name: content}.
func (r Result) MarshalJSON() ([]byte, error) {
	d := document{DetectedFiles: make(map[string]string, len(r.Files)), Rest: plainResult(r)}
	for _, f := range r.Files {
		d.DetectedFiles[f.Path] = f.Content
	}
	data, err := json.Marshal(d, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("write detection: %w", err)
	}
	return data, nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Result) UnmarshalJSON(data []byte) error {
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("read detection: %w", err)
	}
	*r = Result(d.Rest)
	for i := range r.Files {
		r.Files[i].Content = d.DetectedFiles[r.Files[i].Path]
	}
	return nil
}
