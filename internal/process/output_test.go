package process_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"signalbox/internal/process"
)

func TestOneWriterKeepsTheOrderOfBothStreams(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := child("print on both in turn")
	c.Stdout, c.Stderr = &out, &out
	run(t, c)
	var want strings.Builder
	for i := range 500 {
		fmt.Fprintf(&want, "out %d\nerr %d\n", i, i)
	}
	if out.String() != want.String() {
		t.Errorf("got %d bytes in another order than printed", out.Len())
	}
}

func TestTwoWritersGetTheirOwnStreamOneCallAtATime(t *testing.T) {
	t.Parallel()
	// Both append to one string without a lock: the race detector sees two calls at a time.
	var all []byte
	stdout, stderr := &prefixed{"o", &all, 0}, &prefixed{"e", &all, 0}
	c := child("print on both in turn")
	c.Stdout, c.Stderr = stdout, stderr
	run(t, c)
	if stdout.lines != 500 || stderr.lines != 500 {
		t.Errorf("got %d and %d lines, want 500 each", stdout.lines, stderr.lines)
	}
}

type prefixed struct {
	prefix string
	all    *[]byte
	lines  int
}

func (w *prefixed) Write(p []byte) (int, error) {
	*w.all = append(*w.all, w.prefix...)
	w.lines += bytes.Count(p, []byte("\n"))
	return len(p), nil
}

func TestOutputBeyondTheLimitIsDropped(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var out bytes.Buffer
	c := child("print 1 GiB")
	c.Stdout, c.OutputLimit, c.Total = &out, 1<<20+1, patience
	got := run(t, c)
	runtime.ReadMemStats(&after)
	if !got.OK() || !got.Truncated || int64(out.Len()) != c.OutputLimit {
		t.Errorf("got %d bytes and %+v, want %d bytes, truncated", out.Len(), got, c.OutputLimit)
	}
	// Looking for what is left of its tree takes some, the more processes there are.
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 256<<20 {
		t.Errorf("took %d bytes of memory", taken)
	}
	t.Logf("1 GiB in %v", got.Duration)
}

func TestOutputUpToTheLimitIsNotTruncated(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := child("cat")
	c.Stdin, c.Stdout, c.OutputLimit = strings.NewReader("12345"), &out, 5
	if got := run(t, c); got.Truncated || out.String() != "12345" {
		t.Errorf("got %q and %+v, want all of it", out.String(), got)
	}
}

func TestWriterThatFailsIsAnErrorAndDoesNotHangTheProgram(t *testing.T) {
	t.Parallel()
	c := child("print 16 MiB")
	c.Stdout = broken{}
	got, err := process.Run(t.Context(), c)
	if !errors.Is(err, errBroken) || !got.OK() {
		t.Errorf("got %+v and error %v, want success and %v", got, err, errBroken)
	}
}

func TestSlowWriterStillGetsEverything(t *testing.T) {
	t.Parallel()
	// The program is long gone when the writer takes the second piece out of the pipe.
	gone := make(chan struct{})
	out := &gated{gate: gone}
	c := child("cat")
	c.Stdin, c.Stdout = strings.NewReader(strings.Repeat("x", 60_000)), out
	timer := time.AfterFunc(1500*time.Millisecond, func() { close(gone) })
	defer timer.Stop()
	run(t, c)
	if out.n != 60_000 {
		t.Errorf("got %d bytes, want 60000", out.n)
	}
}

// gated holds up its first Write.
type gated struct {
	counter
	gate <-chan struct{}
}

func (g *gated) Write(p []byte) (int, error) {
	<-g.gate
	return g.counter.Write(p)
}
