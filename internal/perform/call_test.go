package perform

import (
	"context"
	"errors"
	"io"
	"syscall"
	"testing"
)

// full is a disk without room.
type full struct{ io.Writer }

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestACallWhoseLogCannotBeWrittenEnds(t *testing.T) {
	t.Parallel()
	calling, end := context.WithCancelCause(t.Context())
	defer end(nil)
	if _, err := (logged{io.Discard, end}).Write([]byte("x")); err != nil || calling.Err() != nil {
		t.Errorf("a log that is written ends it: %v", context.Cause(calling))
	}
	if _, err := (logged{full{}, end}).Write([]byte("x")); err == nil || !errors.Is(context.Cause(calling), syscall.ENOSPC) {
		t.Errorf("one that is not: %v, and the call's end %v", err, context.Cause(calling))
	}
}
