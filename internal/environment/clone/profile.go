package clone

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// profiles are what login shells read in HOME after the machine's own, which sets PATH anew (on
// Debian to a list that has neither the programs of a set-up nor those that a driver adds).
var profiles = []string{".profile", ".zprofile"}

// profileText puts back the PATH that the shell was started with, before what the machine's own has.
// It is read from the kernel, because every command may have another. In the run of a shell it is
// read once, and a set-up may add to it.
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

// layProfiles writes them into HOME where there are none: a HOME that lies over a base's has that one's.
// A command can have put anything there, so nothing is replaced or followed.
func (l layout) layProfiles() error {
	for _, name := range profiles {
		f, err := os.OpenFile(filepath.Join(l.home(), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
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
