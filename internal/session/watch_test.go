package session

import (
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/session/terminal"
)

// toldUntil collects lines until the last one comes, or the session ends.
func toldUntil(t *testing.T, events <-chan Event, last string) (lines []string) {
	t.Helper()
	for e := range events {
		if e.Info == nil {
			lines = append(lines, e.Line)
		}
		if e.Line == last {
			break
		}
	}
	return lines
}

func TestALineThatDoesNotEndIsToldOnce(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	s.Quiet = 10 * time.Millisecond
	x := started(t, s, shell(42, Terminal, "stty -echo; printf '\\033[1mpassword? '; read line; echo; printf 'again? '; read line; echo \"$line\"; echo end"))
	events := watched(t, x)
	if lines := toldUntil(t, events, "password? "); !slices.Equal(lines, []string{"password? "}) {
		t.Fatalf("told %q", lines)
	}
	for _, answer := range []string{"secret", "public"} {
		if err := x.Nudge(within(t), answer); err != nil {
			t.Fatal(err)
		}
	}
	if lines := toldUntil(t, events, "end"); !slices.Equal(lines, []string{"again? ", "public", "end"}) {
		t.Errorf("then told %q", lines)
	}
}

// The letter e is held back, because a secret may begin with it, until Enter comes.
func TestATypedWordIsToldWhole(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	s.Quiet = 10 * time.Millisecond
	x := started(t, s, shell(42, Terminal, "printf 'say: '; read line"))
	events := watched(t, x)
	lines := toldUntil(t, events, "say: ")
	nudged := make(chan error, 1)
	go func() { nudged <- x.Nudge(t.Context(), "continue please") }()
	lines = append(lines, toldUntil(t, events, "please")...)
	if err := <-nudged; err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(lines, []string{"say: ", "continue ", "please"}) {
		t.Errorf("told %q", lines)
	}
}

func TestSequencesAreNotCutIntoLines(t *testing.T) {
	t.Parallel()
	var reader terminal.LineReader
	var lines []string
	tell := func(line string) bool { lines = append(lines, line); return true }
	text := strings.Repeat("\x1b[38;2;1;2;3mx\x1b]0;a title\a", terminal.LineLimit+1) + "\r\nend\x1b[m\n"
	for i := range len(text) {
		reader.Split([]byte(text[i:i+1]), tell)
	}
	if want := []string{strings.Repeat("x", terminal.LineLimit), "x", "end"}; !slices.Equal(lines, want) {
		t.Errorf("told %d lines, %.80q", len(lines), lines)
	}
}

// Its lines end in what no secret begins with: whatever may be the beginning of one is held back.
func TestOfAnInterfaceTheLinesThatStandAreTold(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	x := started(t, s, shell(42, Terminal, "echo begun; read line; "+interfaceScript+"printf '\\033[12;1Hready!'; read line; printf '\\033[2J\\033[HHEADER\\nready!\\nlast!'; read line"))
	events, err := x.Watch(within(t))
	if err == nil {
		err = x.Nudge(within(t), "go")
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := toldUntil(t, events, "ready!")
	if err := x.Nudge(within(t), "on"); err != nil {
		t.Fatal(err)
	}
	lines = append(lines, toldUntil(t, events, "last!")...)
	count := func(text string) (n int) {
		for _, line := range lines {
			if line == text {
				n++
			}
		}
		return n
	}
	for _, once := range []string{"begun", "HEADER", "6000 working", "ready!", "last!"} {
		if count(once) != 1 {
			t.Errorf("%q is told %d times", once, count(once))
		}
	}
	if text := strings.Join(lines, "\n"); strings.ContainsAny(text, "[;\x1b") || len(lines) > 50 {
		t.Errorf("told %d lines: %.500q", len(lines), text)
	}
}

func TestWhatScrollsAwayOfAnInterfaceIsTold(t *testing.T) {
	t.Parallel()
	x := started(t, newSessions(t), shell(42, Terminal, "echo begun; read line; printf '\\033[10;1H'; seq -f 'row %.0f.' 200; read line"))
	events, err := x.Watch(within(t))
	if err == nil {
		err = x.Nudge(within(t), "go")
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := toldUntil(t, events, "row 200.")
	if begun := strings.Count(strings.Join(lines, "\n"), "begun"); begun != 1 {
		t.Errorf("what was there before is told %d times", begun)
	}
	rows := slices.DeleteFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "row ") })
	if len(rows) != 200 || rows[0] != "row 1." || rows[198] != "row 199." {
		t.Errorf("told %d rows: %q", len(rows), rows)
	}
}

func TestTwoWatchAtOnce(t *testing.T) {
	t.Parallel()
	x := started(t, newSessions(t), shell(42, Terminal, "read line; echo 'a \033[31mred\033[0m line'; echo '"+done+"'"))
	var watching [2]<-chan Event
	for i := range watching {
		events := watched(t, x)
		if e := <-events; e.Info == nil || e.Info.Outcome != nil {
			t.Fatalf("first is told %+v", e)
		}
		watching[i] = events
	}
	if err := x.Nudge(within(t), "go"); err != nil {
		t.Fatal(err)
	}
	for i, events := range watching {
		var lines []string
		var last Info
		for e := range events {
			if e.Info != nil {
				last = *e.Info
			} else {
				lines = append(lines, e.Line)
			}
		}
		if text := strings.Join(lines, "|"); !strings.Contains(text, "|a red line|"+done) || last.EndedAt == nil || last.Outcome.Kind != terminal.Complete {
			t.Errorf("watcher %d saw %q and %+v", i, text, last.Outcome)
		}
	}
}

func TestWatchersAreToldOfWhatIsRecorded(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	told, path := fifo(t)
	x := started(t, newSessions(t), shell(42, Terminal, "read line; exec 3<'"+path+"'; for i in $(seq 50); do echo \"<$i>\"; read told <&3; done; echo '"+done+"'"))
	events := watched(t, x)
	if err := x.Nudge(within(t), "go"); err != nil {
		t.Fatal(err)
	}
	lines := 0
	for e := range events {
		if !strings.HasPrefix(e.Line, "<") {
			continue
		}
		lines++
		if !strings.Contains(output(t, x), e.Line) {
			t.Errorf("%s is not recorded yet", e.Line)
		}
		if e.RecordedAt.Before(begun) || e.RecordedAt.After(time.Now()) {
			t.Errorf("%s was recorded at %s", e.Line, e.RecordedAt)
		}
		if _, err := told.WriteString("told\n"); err != nil { // it prints the next
			t.Fatal(err)
		}
	}
	if lines != 50 {
		t.Errorf("%d of 50 lines came", lines)
	}
}
