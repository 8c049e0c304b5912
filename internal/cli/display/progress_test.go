package display

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"signalbox/internal/cli/command"
	"signalbox/internal/workflow"
)

// screen is a terminal that knows the one sequence by which progress is drawn anew. A line wider than it takes several rows, as on any.
type screen struct {
	mu    sync.Mutex
	width int
	bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Buffer.Write(p)
}

var upAndClear = regexp.MustCompile("\r\x1b\\[(\\d+)A\x1b\\[J")

// rows are what is seen on it.
func (s *screen) rows() (rows []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for text := s.String(); text != ""; {
		if at := upAndClear.FindStringSubmatchIndex(text); at != nil && at[0] == 0 {
			up, _ := strconv.Atoi(text[at[2]:at[3]])
			rows, text = rows[:max(0, len(rows)-up)], text[at[1]:]
			continue
		}
		line, rest, _ := strings.Cut(text, "\n")
		rows, text = append(rows, line), rest
		for wide := displaywidth.String(line); wide > s.width; wide -= s.width {
			rows = append(rows, "")
		}
	}
	return rows
}

func TestATerminalShowsHeaderBarAndLastWordsUntilTheEnd(t *testing.T) {
	t.Parallel()
	for _, width := range []int{200, 80, 40} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			s := &screen{width: width}
			watches := NewProgress(&command.Invocation{Console: command.Console{Out: s, Terminal: true, Width: func() int { return width }}}, false,
				func(*workflow.Run) string { return "I look at 日本語 " + strings.Repeat("and more ", 40) })
			watches.Header = "watching 1 run; q leaves, s twice stops it, and so on for some more than forty columns"
			run := workflow.Run{RunID: "20260101-000000-abcdef", State: workflow.Running, Details: workflow.Details{Number: 42, Phase: workflow.TDDGreen,
				Phases: make([]workflow.PhaseRecord, 15)}}
			for percent, message := range []string{"S01: implementing", "S01: implementing " + strings.Repeat("a long title ", 30), "S01: running the tests"} {
				run.Progress = workflow.Progress{Percent: percent, Message: message}
				watches.Observe(run)
				for range 3 {
					watches.draw()
				}
				rows := s.rows()
				if len(rows) != 3 || !strings.Contains(rows[0], "watching 1 run") || !strings.Contains(rows[1], "#42") || !strings.Contains(rows[1], "S01") ||
					!strings.Contains(rows[2], "I look at") {
					t.Errorf("at %q it shows\n%s", message, strings.Join(rows, "\n"))
				}
			}
			watches.Stay()
			if rows := s.rows(); len(rows) != 3 || !strings.Contains(rows[1], "running the tests") && width > narrow {
				t.Errorf("to a person who looks away it leaves\n%s", strings.Join(rows, "\n"))
			}
		})
	}
}
