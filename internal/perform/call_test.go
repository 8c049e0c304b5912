package perform

import (
	"context"
	"errors"
	"io"
	"syscall"
	"testing"
)

// full is a full disk.
type full struct{ io.Writer }

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestAFailedLogWriteEndsTheCall(t *testing.T) {
	t.Parallel()
	calling, end := context.WithCancelCause(t.Context())
	defer end(nil)
	if _, err := (logged{io.Discard, end}).Write([]byte("x")); err != nil || calling.Err() != nil {
		t.Errorf("a written log ended the call: %v", context.Cause(calling))
	}
	if _, err := (logged{full{}, end}).Write([]byte("x")); err == nil || !errors.Is(context.Cause(calling), syscall.ENOSPC) {
		t.Errorf("a failed write returned %v and ended the call with %v", err, context.Cause(calling))
	}
}
