package agent_test

import (
	"testing"

	"signalbox/internal/agent"
)

func TestAPathIsSaidAsItIsSeenFromTheWorkingDirectory(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/work/a/b.go": "a/b.go", "/work": ".", "a/b.go": "a/b.go", "": "",
		"/work/docs/../.github/x.yml": ".github/x.yml", "docs/../.github/x.yml": ".github/x.yml",

		// A path that leads elsewhere stays unchanged: no star in an allowing pattern matches "..".
		"/etc/passwd": "/etc/passwd", "/workshop/a": "/workshop/a", "/work/../etc/passwd": "/work/../etc/passwd",
		"docs/../../etc/passwd": "docs/../../etc/passwd", "..": "..", "~/a": "~/a",
	} {
		if got := agent.Below("/work", path); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
}
