package clone_test

import (
	"os"
	"path/filepath"
	"testing"

	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/environmenttest"

	"signalbox/internal/process/processtest"
)

func TestProgramsFindTheFilesBesideThem(t *testing.T) {
	t.Parallel()
	tools := t.TempDir()
	for path, content := range map[string]string{
		"node/bin/npm":               "#!/bin/sh\n. " + tools + "/node/lib/npm.sh\n",
		"node/lib/npm.sh":            "echo npm\n",
		"pyenv/shims/python":         "#!/bin/sh\nexec " + tools + "/pyenv/libexec/pyenv\n",
		"pyenv/libexec/pyenv":        "#!/bin/sh\nexec " + tools + "/pyenv/versions/$(cat " + tools + "/pyenv/version)/python\n",
		"pyenv/version":              "3.11\n",
		"pyenv/versions/3.11/":       "",
		"pyenv/versions/3.11/python": "#!/bin/sh\necho python\n",
		"node/credentials":           "secret\n",
	} {
		path = filepath.Join(tools, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if content == "" {
			continue
		}
		if err := processtest.WriteProgram(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p := environmenttest.NewProject(t)
	c := config(t, p)
	c.Variables = []string{"PATH=" + filepath.Join(tools, "node/bin") + ":" + filepath.Join(tools, "pyenv/shims") + ":" + clone.DefaultPath}
	e, err := clone.New(c).Make(t.Context(), p.Spec("one"))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, e, "npm && python", "npm\npython\n")
	expect(t, e, "test -e "+tools+"/node/credentials && echo shown || echo hidden", "hidden\n")
}

func TestTheUsersHomeIsHomeInside(t *testing.T) {
	t.Parallel()
	p := environmenttest.NewProject(t)
	e, err := clone.New(config(t, p)).Make(t.Context(), p.Spec("one"))
	if err != nil {
		t.Fatal(err)
	}
	// Java asks the system for the user's home, and not the variable.
	expect(t, e, `unset HOME; getent passwd "$(id -u)" | cut -d: -f6`, "/home/signalbox\n")
}
