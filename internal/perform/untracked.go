package perform

import (
	"bytes"
	"context"
	"strings"
	"time"

	"signalbox/internal/environment"
	"signalbox/internal/process"
	"signalbox/internal/redact"
)

const (
	// untrackedShown is how many untracked files are named.
	untrackedShown = 5
	looseTotal     = 30 * time.Second
	looseLimit     = 1 << 20
)

// untracked returns the first files that a set-up wrote which are neither ignored nor in a folder of their
// own. git is asked inside, where the set-up's word on what it ignores can mislead nobody else; an
// image without git leaves the question open.
func (x *execution) untracked(ctx context.Context, env environment.Environment) (names []string) {
	var list bytes.Buffer
	result, err := env.Exec(ctx, process.Command{Args: []string{"git", "--no-optional-locks", "-c", "safe.directory=*", "status", "--porcelain", "-z", "--no-renames"},
		Stdout: &list, Total: looseTotal, OutputLimit: looseLimit})
	if err != nil || !result.OK() {
		x.Logger.Debug("files that the set-up wrote are not known", "run", x.run.RunID, "err", err, "code", result.ExitCode)
		return nil
	}
	for entry := range strings.SplitSeq(list.String(), "\x00") {
		if len(entry) < 4 || strings.HasSuffix(entry, "/") {
			continue
		}
		if len(names) == untrackedShown {
			return append(names, "…")
		}
		names = append(names, redact.Line(x.Redact.String(entry[3:]), 200))
	}
	return names
}
