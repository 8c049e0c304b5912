package gitlab

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/forge/joblog"
	"signalbox/internal/lazy"
)

// Of a log that GitLab's runner writes: the marks of sections, and what begins a line where lines have their times, with a + if the line belongs to the
// one before.
var (
	sectionMark = lazy.Expression{Text: `(?:\x1b\[0K)?section_(start|end):\d{1,20}:([A-Za-z0-9_.-]{1,100})(?:\[[^\]\r\n]{0,200}\])?\r(?:\x1b\[0K)?`}
	lineTime    = lazy.Expression{Text: `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z [0-9a-f]{2}[OE]([ +])`}
)

// scripts are the names of the section in which the job's own commands run, today's first.
var scripts = []string{"step_script", "build_script"}

// maxOpen is how many open sections are named.
const maxOpen = 5

// script is the part of a log that the job's own commands printed.
type script struct {
	name string
	// shown ends with the last mark of the script's end so far; behind it is what followed. A script can print such a mark, but its own end comes after.
	shown, behind joblog.Tail
	// open are the sections that the script began and has not ended, and left those that were open at the end.
	open, left []string
	ended      bool
}

// section takes a mark. Only the first mark of the script's beginning can be the runner's.
func (s *script) section(begins bool, name string) {
	i := slices.Index(s.open, name)
	switch {
	case s.name == "" && begins && slices.Contains(scripts, name):
		s.name = name
	case s.name == "" || begins && (len(s.open) == maxOpen || name == s.name):
	case begins:
		s.open = append(s.open, name)
	case name == s.name:
		s.shown.Take(&s.behind)
		s.left, s.ended = slices.Clone(s.open), true
	case i >= 0:
		s.open = slices.Delete(s.open, i, i+1)
	}
}

// traced returns the end of what a job's own commands printed, with the names of the sections in which they ended, and then what the runner says about
// the job's end. If they never began, it returns the end of the log.
func traced(log io.Reader, limit int) ([]forge.StepLog, error) {
	s, whole := script{shown: joblog.Tail{Limit: limit}, behind: joblog.Tail{Limit: limit}}, joblog.Tail{Limit: limit}
	write := func(text []byte) {
		_, _ = whole.Write(text)
		if s.name != "" {
			_, _ = s.behind.Write(text)
		}
	}
	ended := false // the line before; its end is written once the next one turns out to be another
	err := joblog.Lines(log, func(line []byte, begins bool) {
		joins := false
		if begins {
			if mark := lineTime.Regexp().FindSubmatch(line); mark != nil {
				line, joins = line[len(mark[0]):], mark[1][0] == '+'
			}
		}
		if ended && !joins {
			write([]byte("\n"))
		}
		at := 0
		if bytes.Contains(line, []byte("section_")) {
			for _, found := range sectionMark.Regexp().FindAllSubmatchIndex(line, -1) {
				write(line[at:found[0]])
				s.section(string(line[found[2]:found[3]]) == "start", string(line[found[4]:found[5]]))
				at = found[1]
			}
		}
		text := bytes.TrimSuffix(line[at:], []byte("\n"))
		write(text)
		ended = len(text) < len(line)-at
	})
	all := whole.Text()
	if s.name == "" {
		return shown("", all), err
	}
	if !s.ended {
		s.shown, s.left = s.behind, s.open
	}
	text := s.shown.Text()
	if last := all[strings.LastIndex(all, "\n")+1:]; strings.HasPrefix(last, "ERROR: ") && !strings.HasSuffix(text, last) {
		text += "\n" + last
	}
	return shown(strings.Join(append([]string{s.name}, s.left...), " / "), text), err
}

func shown(step, text string) []forge.StepLog {
	if text == "" {
		return nil
	}
	return []forge.StepLog{{Step: step, Text: text}}
}
