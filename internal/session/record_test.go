package session

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"signalbox/internal/process"
	"signalbox/internal/session/terminal"
)

// numbered is count lines that say which they are.
func numbered(from, count int) []byte {
	var text strings.Builder
	for i := range count {
		fmt.Fprintf(&text, "line %07d\n", from+i)
	}
	return []byte(text.String())
}

// inOrder checks that no line comes twice, and returns the last.
func inOrder(t *testing.T, r io.ReadCloser) (last int) {
	t.Helper()
	defer func() { _ = r.Close() }()
	last = -1
	for lines := bufio.NewScanner(r); lines.Scan(); {
		var n int
		if _, err := fmt.Sscanf(lines.Text(), "line %07d", &n); err != nil || len(lines.Text()) != len("line 0000000") {
			continue // the line that says what is missing, and those it cuts
		}
		if n <= last {
			t.Fatalf("line %d comes behind line %d", n, last)
		}
		last = n
	}
	return last
}

func TestARecordThatIsClosedWhileItIsReadHasNothingTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, err := newRecord(dir, 4000)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Write(numbered(0, 1000)); err != nil {
		t.Fatal(err)
	}
	opened, err := openRecord(dir)
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if last := inOrder(t, opened); last != 999 {
		t.Errorf("the last line is %d", last)
	}
	again, err := openRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	if last := inOrder(t, again); last != 999 {
		t.Errorf("read again the last line is %d", last)
	}
}

func TestARecordIsReadWhileItsFilesAreDropped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, err := newRecord(dir, 4000)
	if err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() {
		for i := 0; i < 100_000; i += 100 {
			if _, err := r.Write(numbered(i, 100)); err != nil {
				written <- err
				return
			}
		}
		written <- r.Close()
	}()
	for {
		opened, errOpen := openRecord(dir)
		if errOpen != nil {
			t.Fatal(errOpen)
		}
		inOrder(t, opened)
		select {
		case err = <-written:
		default:
			continue
		}
		break
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheRecordOfAKilledHostHasNothingTwice(t *testing.T) {
	t.Parallel()
	c := shell(42, Terminal, "seq -f 'line %07.0f' 0 9999; echo printed; read line")
	c.RecordLimit = 40_000
	x := started(t, newSessions(t), c)
	attached(t, x, process.TerminalSize{}, "printed")
	recorded := func() int {
		opened, err := x.Output()
		if err != nil {
			t.Fatal(err)
		}
		return inOrder(t, opened)
	}
	for ctx := within(t); recorded() != 9999; { // who is attached sees output before it is recorded
		if ctx.Err() != nil {
			t.Fatalf("line %d is the last that is recorded", recorded())
		}
	}
	info, err := x.Info(t.Context())
	if err == nil {
		err = unix.Kill(info.HostPID, unix.SIGKILL)
	}
	if err != nil {
		t.Fatal(err)
	}
	waited(t, x)
	if last := recorded(); last != 9999 {
		t.Errorf("the last line is %d", last)
	}
	if kept, err := os.Stat(filepath.Join(x.dir, recordFile)); err != nil || kept.Size() != c.RecordLimit/2 {
		t.Errorf("the first file is not the first half: %v, %v", kept, err)
	}
}

func TestRecordHoldsNoSecrets(t *testing.T) {
	t.Parallel()
	c := shell(42, Terminal, "echo the key is $KEY; echo token $"+TokenVariable+"; "+reporter(t, "error it is hunter2-hunter2"))
	c.Env = append(c.Env, "KEY=hunter2-hunter2")
	c.Secrets = map[string]string{"KEY": "hunter2-hunter2"}
	x := started(t, newSessions(t), c)
	told := waited(t, x)
	info := ended(t, x)
	text := output(t, x)
	if told.Outcome.Message != "it is [redacted]" {
		t.Errorf("told %q", told.Outcome.Message)
	}
	if !strings.Contains(text, "the key is [redacted]") || !strings.Contains(text, "token [redacted]") || strings.Contains(info.Outcome.Message, "hunter2") {
		t.Errorf("recorded %q, came to %q", text, info.Outcome.Message)
	}
}

func TestRecordKeepsTheBeginningAndTheEnd(t *testing.T) {
	t.Parallel()
	const printedBytes = 32 << 20 // many times what is kept; BenchmarkFlood prints a gigabyte
	c := shell(42, Headless, fmt.Sprintf("echo beginning; yes $(printf %%080d 0) | head -c %d; echo end; echo '%s'", printedBytes, done))
	c.RecordLimit = 1 << 20
	x := started(t, newSessions(t), c)
	info := ended(t, x)
	text := output(t, x)
	if info.Outcome.Kind != terminal.Complete || len(text) > 1<<20+100 || !strings.HasPrefix(text, "beginning\n") ||
		!strings.HasSuffix(text, "end\n"+done+"\n") || !strings.Contains(text, "bytes are not kept]") {
		t.Errorf("came to %+v; %d bytes are kept, from %.20q", info.Outcome, len(text), text)
	}
	peak, _ := os.ReadFile(filepath.Join(x.dir, logFile))
	if len(peak) > 0 {
		t.Errorf("the host complains: %s", peak)
	}
}
