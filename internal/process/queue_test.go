package process_test

import (
	"errors"
	"io"
	"testing"

	"signalbox/internal/process"
)

func TestAQueueTakesAllOrNothingAndEndsOnceItIsClosedAndEmpty(t *testing.T) {
	t.Parallel()
	q := process.NewQueue(4)
	if err := errors.Join(q.Put([]byte("ab")), q.Put([]byte("cd"))); err != nil {
		t.Fatal(err)
	}
	if err := q.Put([]byte("e")); !errors.Is(err, process.ErrQueueFull) {
		t.Errorf("Put into a full queue = %v", err)
	}
	first := make([]byte, 3)
	if _, err := io.ReadFull(q, first); err != nil || string(first) != "abc" {
		t.Fatalf("Read = %q, %v", first, err)
	}
	if err := q.Put([]byte("efg")); err != nil {
		t.Errorf("Put where there is room = %v", err)
	}
	q.Close()
	if err := q.Put(nil); !errors.Is(err, process.ErrQueueClosed) {
		t.Errorf("Put into a closed queue = %v", err)
	}
	if rest, err := io.ReadAll(q); err != nil || string(rest) != "defg" {
		t.Errorf("the rest is %q, %v", rest, err)
	}
}
