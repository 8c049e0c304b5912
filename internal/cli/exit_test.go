package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"signalbox/internal/engine"
	"strings"
	"syscall"
	"testing"
)

func TestARemovedFileIsNotBlamedOnTheDisk(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]string{fs.ErrNotExist: "something removed", syscall.ENOSPC: "check the disk"} {
		var p *problem
		if err := explained(fmt.Errorf("%w: %w", engine.ErrNotSaved, cause)); !errors.As(err, &p) || !strings.Contains(p.hint, want) {
			t.Errorf("%v is explained by %v, want %q", cause, p, want)
		}
	}
}
