package clone_test

import (
	"strings"
	"testing"

	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/clone/seccomp"
	"signalbox/internal/environment/environmenttest"
)

// The filter refuses only user namespaces, and no threads, processes and namespaces of another kind.
func TestAUserNamespaceIsMadeOnlyIfConfigured(t *testing.T) {
	t.Parallel()
	for open, want := range map[bool]string{true: "made\n", false: "refused\n"} {
		if !seccomp.Filters() { // the numbers of this architecture's system calls are not known
			want = "made\n"
		}
		p := environmenttest.NewProject(t)
		c := config(t, p)
		c.UserNamespaces = open
		d := clone.New(c)
		if note, err := d.Check(t.Context()); err != nil || open != strings.Contains(note, "environment.user_namespaces") {
			t.Errorf("got note %q, %v", note, err)
		}
		expect(t, made(t, d, p), "unshare --user true 2>/dev/null && echo made || echo refused", want)
	}
}
