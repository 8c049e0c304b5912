package process

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// The garbage collector moves stacks, so what the kernel is asked through an address in one must not be
// lost. Of 20,000 terminals of a library that did it wrong some 20 were terminal 0.
func TestBothSidesAreOfOneTerminal(t *testing.T) {
	t.Parallel()
	ours, theirs, err := newTerminal() // so that none of the others is number 0
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = ours.Close(), theirs.Close() }()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	for range 20_000 {
		done := make(chan struct{})
		go func() {
			defer close(done)
			grow(100)
			mustBeOne(t)
		}()
		<-done
	}
	close(stop)
	<-stopped
}

// grow makes a stack so large that the garbage collector will shrink it.
func grow(frames int) int {
	var frame [512]byte
	if frames == 0 {
		return len(frame)
	}
	return grow(frames-1) + int(frame[frames])
}

func mustBeOne(t *testing.T) {
	ours, theirs, err := newTerminal()
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _, _ = ours.Close(), theirs.Close() }()
	number, err := unix.IoctlGetUint32(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Error(err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(theirs.Fd()), &st); err != nil || unix.Minor(st.Rdev) != number {
		t.Errorf("the program's side is of terminal %d, ours of %d: %v", unix.Minor(st.Rdev), number, err)
	}
}
