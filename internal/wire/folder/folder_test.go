package folder

import (
	"os"
	"path/filepath"
	"testing"
)

// Anybody may put documents into a folder like /tmp; a project in a folder below must not obey them.
func TestDocumentsAboveCountOnlyInAFolderOfTheUsersOwn(t *testing.T) {
	for name, tc := range map[string]struct {
		mode  os.FileMode
		owner int
		count bool
	}{
		"own":                            {mode: 0o755, owner: os.Geteuid(), count: true},
		"own, shared with a group":       {mode: 0o775, owner: os.Geteuid(), count: true},
		"open to all":                    {mode: 0o777, owner: os.Geteuid()},
		"open to all, as /tmp is":        {mode: 0o777 | os.ModeSticky, owner: os.Geteuid()},
		"another user's (seen as root)":  {mode: 0o755, owner: 65534, count: os.Geteuid() != 0},
		"another's, open (seen as root)": {mode: 0o777 | os.ModeSticky, owner: 65534},
	} {
		t.Run(name, func(t *testing.T) {
			above := t.TempDir()
			here := filepath.Join(above, "a", "here")
			must(t, os.MkdirAll(here, 0o755))
			must(t, os.WriteFile(filepath.Join(above, "environments.json"), []byte("{}"), 0o600))
			if os.Geteuid() == 0 {
				must(t, os.Chown(above, tc.owner, -1))
			}
			must(t, os.Chmod(above, tc.mode))

			root, gitDir, err := Root(here)
			want := here
			if tc.count {
				want = above
			}
			if err != nil || root != want || gitDir != "" {
				t.Errorf("root %q, git %q, %v; want %q", root, gitDir, err, want)
			}
			// Whoever goes into the folder has chosen it.
			if root, _, err := Root(above); err != nil || root != above {
				t.Errorf("from the folder itself: %q, %v", root, err)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
