package report

import (
	"os/exec"
	"strings"
	"testing"
)

// Pasting the trailer runs the tested command, and git reads one trailer, whatever its lines look like.
func TestACommandOfSeveralLinesIsOneTrailerWithTheSameMeaning(t *testing.T) {
	t.Parallel()
	command := "true\n\nif r=$(echo no); then\n\techo \"$r\" # x\nfi\nApproved-By: me\n"
	message := "Merge\n\nTested: " + trailer(command) + "\nIsolation: none\n"
	if want := "Tested: true\n    if r=$(echo no); then\n    \techo \"$r\" # x\n    fi\n    Approved-By: me\n"; !strings.Contains(message, want) {
		t.Errorf("%q, want %q", message, want)
	}
	git := exec.CommandContext(t.Context(), "git", "interpret-trailers", "--parse", "--unfold")
	git.Stdin = strings.NewReader(message)
	out, err := git.Output()
	if lines := strings.Split(strings.TrimSpace(string(out)), "\n"); err != nil || len(lines) != 2 || !strings.HasPrefix(lines[1], "Isolation: ") {
		t.Errorf("git reads %q, %v", out, err)
	}
	if long := trailer(strings.Repeat(strings.Repeat("x", 500)+"\n", 100)); len(long) > 20*210 || !strings.HasSuffix(long, "…") {
		t.Errorf("a long one has %d bytes", len(long))
	}
}
