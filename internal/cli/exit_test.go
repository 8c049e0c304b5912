package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"signalbox/internal/runner"
)

func TestARemovedFileIsNotBlamedOnTheDisk(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]string{fs.ErrNotExist: "something removed", syscall.ENOSPC: "check the disk"} {
		var p *problem
		if err := explained(fmt.Errorf("%w: %w", runner.ErrNotSaved, cause)); !errors.As(err, &p) || !strings.Contains(p.hint, want) {
			t.Errorf("%v is explained by %v, want %q", cause, p, want)
		}
	}
}
