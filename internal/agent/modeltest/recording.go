package modeltest

import (
	"bytes"
	"embed"
	"encoding/json"
	"io/fs"
	"path"
	"strings"
	"testing"

	"signalbox/internal/process"
)

// Recording is what a real agent printed when the scripted model answered it,
// without what differs from run to run: paths, ids, ports and times. The agent
// worked in /work with its HOME at /home/agent, and was asked to write the file
// hello.txt. Its file is JSON Lines: the Recording, then Stdout as it was.
type Recording struct {
	Agent string `json:"agent"`
	// Version is the answer to --version.
	Version string `json:"version"`
	// Case names the model's behavior: "done" goes well, and most others are a Kind.
	Case string   `json:"case"`
	Args []string `json:"args"`
	// How the program ended. It was ended for printing nothing ("idle") or for taking too long
	// ("timeout"), not both in one case.
	Ending   process.Ending `json:"ending"`
	ExitCode int            `json:"exit_code"`
	Signal   string         `json:"signal,omitempty"`
	// Wrote says whether the file was there in the end, which is not always what the agent says.
	Wrote  bool   `json:"wrote"`
	Stderr string `json:"stderr"`
	Stdout []byte `json:"-"`
}

//go:embed testdata
var recordings embed.FS

// Recorded returns the recording of an agent ("claude", "codex", "opencode", "pi", "gemini") in a case.
func Recorded(t testing.TB, agent, name string) Recording {
	t.Helper()
	text, err := recordings.ReadFile(path.Join("testdata", agent, name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	head, stdout, _ := bytes.Cut(text, []byte("\n"))
	recording := Recording{Stdout: stdout}
	if err := json.Unmarshal(head, &recording); err != nil {
		t.Fatalf("read first line of the recording of %s, %s: %v", agent, name, err)
	}
	return recording
}

// Cases returns the names of the cases that an agent was recorded in.
func Cases(t testing.TB, agent string) (names []string) {
	t.Helper()
	entries, err := fs.ReadDir(recordings, path.Join("testdata", agent))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".jsonl"))
	}
	return names
}
