package wire

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"signalbox/internal/engine"
	"signalbox/internal/problem"
)

func TestARemovedFileIsNotBlamedOnTheDisk(t *testing.T) {
	t.Parallel()
	for cause, want := range map[error]string{fs.ErrNotExist: "something removed", syscall.ENOSPC: "check the disk"} {
		var p *problem.Error
		if err := Explained(fmt.Errorf("%w: %w", engine.ErrNotSaved, cause)); !errors.As(err, &p) || !strings.Contains(p.Hint, want) {
			t.Errorf("%v is explained by %v, want %q", cause, p, want)
		}
	}
}
