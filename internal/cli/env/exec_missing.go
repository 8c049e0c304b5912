package env

import (
	"context"
	"fmt"

	"signalbox/internal/place"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/wire"
)

// exitNoProgram is a shell's exit code where a program is not there.
const exitNoProgram = 127

// lookForProgram exits 1 where the program $1 is not there, and 2 where it is no program. Shells
// differ in what their command -v says of a path.
const lookForProgram = `case $1 in
*/*) test -e "$1" || exit 1; test -f "$1" -a -x "$1" || exit 2 ;;
*) command -v -- "$1" >/dev/null || exit 1 ;;
esac`

// noProgram says of a 127 that came without a word what it means; a program's own is left alone.
func noProgram(ctx context.Context, place *place.Place, ref, program string, ended error) error {
	found, err := place.Exec(ctx, process.Command{Args: []string{"sh", "-c", lookForProgram, "sh", program}})
	switch {
	case err != nil:
		return wire.Explained(err)
	case found.ExitCode == 1:
		return &problem.Error{Err: fmt.Errorf("program %q is not found in the environment", program), Code: exitNoProgram,
			Hint: fmt.Sprintf("see where programs are looked for: signalbox env exec %s -- printenv PATH", ref)}
	case found.ExitCode == 2:
		return &problem.Error{Err: fmt.Errorf("%q is there in the environment, but it cannot be executed", program), Code: exitNoProgram,
			Hint: fmt.Sprintf("give it to its interpreter: signalbox env exec %s -- sh %s", ref, program)}
	}
	return ended
}
