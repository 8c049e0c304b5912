package plumbing

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"signalbox/internal/git"
)

// MakeRepository writes the same as "git init" without a template, and doesn't start git: an empty git folder whose HEAD is
// branch, for objects with ids like commit. The folder must not exist.
func MakeRepository(dir, branch, commit string, bare bool, who git.Identity) error {
	for _, folder := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o777); err != nil {
			return fmt.Errorf("make repository: %w", err)
		}
	}
	if !bare { // commands see the work folder's mode, which must not depend on the caller's umask
		if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
			return fmt.Errorf("make repository: %w", err)
		}
	}
	version, extensions := 0, ""
	if len(commit) == 64 {
		version, extensions = 1, "[extensions]\n\tobjectformat = sha256\n"
	}
	config := fmt.Sprintf("[core]\n\trepositoryformatversion = %d\n\tfilemode = true\n\tbare = %t\n\tlogallrefupdates = %t\n%s", version, bare, !bare, extensions)
	if !bare {
		config += fmt.Sprintf("[user]\n\tname = %s\n\temail = %s\n", configValue(who.Name), configValue(who.Email))
	}
	for name, content := range map[string]string{"HEAD": "ref: refs/heads/" + branch + "\n", "config": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			return fmt.Errorf("make repository: %w", err)
		}
	}
	return nil
}

// configValue quotes a value for a git configuration file.
func configValue(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(value) + `"`
}
