package clone

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/overlay"
)

// emptyHome replaces HOME, and the folder for agents, by an empty one.
func (e *Environment) emptyHome() error {
	err := overlay.Unmount(e.layout.home)
	if err == nil {
		err = errors.Join(folder.Remove(e.layout.homeLayer.Path), folder.Remove(e.layout.home), folder.Remove(e.layout.agents))
	}
	if err == nil {
		err = os.Mkdir(e.layout.home, 0o700)
	}
	if err != nil {
		return fmt.Errorf("empty HOME: %w", err)
	}
	return nil
}

// profiles are the files that login shells read in HOME after the machine's own, which set PATH (on Debian to a list without
// the programs of a setup and those that a driver adds).
var profiles = []string{".profile", ".zprofile"}

// profileText restores the PATH that the shell was started with, before the machine's own. It reads it from the kernel, because
// every command may have another. A shell reads it once, and a setup may append to it.
const profileText = `# By Signalbox: a login shell finds the programs that it was started with.
given=$(tr '\0' '\n' </proc/$$/environ 2>/dev/null | sed -n '/^PATH=/{s///p;q;}')
case ":$given:" in
::) ;;
*":$PATH:"*) PATH=$given ;;
*) PATH=$given:$PATH ;;
esac
export PATH
unset given
`

// writeProfiles writes them into HOME if they don't exist: a HOME over a snapshot's has that one's. A command may have put
// anything there, so it replaces nothing and follows no link.
func (l layout) writeProfiles() error {
	for _, name := range profiles {
		f, err := os.OpenFile(filepath.Join(l.home, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			_, err = f.WriteString(profileText)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return fmt.Errorf("write profile of login shells: %w", err)
		}
	}
	return nil
}
