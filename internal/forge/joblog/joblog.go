// Package joblog takes the ends of what the steps of a CI job printed out of the job's log. It owns what logs of several servers have in common, and
// calls no server. Everything in a log is untrusted: a step's time or a marker may only decide which part of it is shown.
package joblog

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/lazy"
	"signalbox/internal/redact"
)

// Tail keeps the end of what is written to it, as text to show.
type Tail struct {
	// Limit is in bytes of that text. What makes no text, such as colours, may be three times as much.
	Limit int
	kept  []byte
	cut   bool
}

func (t *Tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if most := 4 * t.Limit; len(t.kept) > 2*most {
		t.kept, t.cut = append([]byte(nil), t.kept[len(t.kept)-most:]...), true
	}
	return len(p), nil
}

// Take moves what another one kept behind this one's.
func (t *Tail) Take(from *Tail) {
	_, _ = t.Write(from.kept)
	t.cut = t.cut || from.cut
	from.kept, from.cut = nil, false
}

// Text returns whole lines without what a reader doesn't see, after an ellipsis if something was before them. An overwritten line is one of its own.
func (t *Tail) Text() string {
	raw := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(t.kept))
	text := strings.Trim(redact.Clean(raw), "\n")
	cut := t.cut
	if over := len(text) - t.Limit; over > 0 {
		text, cut = strings.ToValidUTF8(text[over:], ""), true
	}
	if !cut {
		return text
	}
	if _, whole, ok := strings.Cut(text, "\n"); ok {
		text = whole
	}
	return "…" + text
}

// Lines hands over a log line by line. Of a line longer than 64 KB, further parts follow, which begin no line.
func Lines(log io.Reader, each func(line []byte, begins bool)) error {
	r := bufio.NewReaderSize(log, 64<<10)
	for begins := true; ; {
		line, err := r.ReadSlice('\n')
		if len(line) > 0 {
			each(line, begins)
		}
		begins = err == nil
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// Step is one step of a job of Actions, as the APIs of GitHub and Gitea describe it. Its times are known to the second.
type Step struct {
	Name       string
	Conclusion string
	Began      time.Time `json:"started_at"`
	Ended      time.Time `json:"completed_at"`
}

func (s Step) ran() bool { return s.Began.Unix() > 0 && s.Conclusion != "skipped" }

// failed includes what was canceled or ran out of time.
func (s Step) failed() bool {
	return !slices.Contains([]string{"", "success", "neutral"}, s.Conclusion)
}

// What runners write: marks of groups, which Gitea's leaves as they are, and the line with which a step begins.
var (
	group   = lazy.Expression{Text: `^(?:##\[|::)(?:group(?:\]|::)|endgroup(?:\]|::)\r?\n?)`}
	opening = lazy.Expression{Text: `^(?:(?:##\[group\]|::group::)Run |Post job cleanup\.)`}
)

// section is what a step printed.
type section struct {
	Step
	Tail
	// opened: the line with which it begins was there. GitHub's first step has none.
	opened bool
	// reported: a line of it is an error that the runner reports.
	reported bool
}

// at reports whether a second belongs to the step's time.
func (s *section) at(second time.Time) bool {
	return !second.Before(s.Began) && (s.Ended.Unix() <= 0 || !second.After(s.Ended))
}

// Of returns the end of what each failed step printed, at most limit bytes of each, from a log in which every line begins with its time, as runners of
// Actions write it. Steps are told apart by their times and, in the second in which one follows another, by the line with which a step begins. So
// that a line that only looks like one hides nothing, a failed step has all of its last second. If no failed step printed anything, the end of the
// whole log is returned.
func Of(log io.Reader, steps []Step, limit int) ([]forge.StepLog, error) {
	var ran []*section
	for _, s := range steps {
		if s.Began, s.Ended = s.Began.Truncate(time.Second), s.Ended.Truncate(time.Second); s.ran() {
			ran = append(ran, &section{Step: s, Tail: Tail{Limit: limit}, opened: s.Name == "Set up job"})
		}
	}
	whole, now := Tail{Limit: limit}, -1
	var second time.Time
	err := Lines(log, func(line []byte, begins bool) {
		if begins {
			var at time.Time
			if at, line = stamped(line); !at.IsZero() {
				second = at.Truncate(time.Second)
				now = following(ran, now, second, line)
			}
			if line = group.Regexp().ReplaceAll(line, nil); len(line) == 0 {
				return
			}
		}
		_, _ = whole.Write(line)
		for i, s := range ran[:now+1] {
			if s.failed() && (i == now || s.at(second)) {
				s.reported = s.reported || begins && bytes.HasPrefix(line, []byte("##[error]"))
				_, _ = s.Write(line)
			}
		}
	})
	var found []forge.StepLog
	for _, s := range failed(ran) {
		if text := s.Text(); text != "" {
			found = append(found, forge.StepLog{Step: s.Name, Text: text})
		}
	}
	if text := whole.Text(); len(found) == 0 && text != "" {
		found = []forge.StepLog{{Text: text}}
	}
	return found, err
}

// stamped takes the time from the beginning of a line; the zero time if there is none.
func stamped(line []byte) (at time.Time, rest []byte) {
	first, rest, ok := bytes.Cut(bytes.TrimPrefix(line, []byte("\uFEFF")), []byte(" "))
	if at, err := time.Parse(time.RFC3339Nano, string(first[:min(len(first), 40)])); ok && err == nil {
		return at, rest
	}
	return time.Time{}, line
}

// following returns the index of the step that a line is of, if now is that of the line before.
func following(ran []*section, now int, second time.Time, line []byte) int {
	opens := opening.Regexp().Match(line)
	for now+1 < len(ran) && !second.Before(ran[now+1].Began) {
		if now >= 0 && ran[now].at(second) && !(opens && (ran[now].opened || second.After(ran[now].Began))) {
			break
		}
		now++
	}
	if opens && now >= 0 {
		ran[now].opened = true
	}
	return now
}

// failed are the steps that failed. Gitea says of every step what became of the job: then it is the last one in which the runner reports an error,
// or the last one that ran.
func failed(ran []*section) []*section {
	if len(ran) < 2 || slices.ContainsFunc(ran, func(s *section) bool { return !s.failed() }) {
		return slices.DeleteFunc(slices.Clone(ran), func(s *section) bool { return !s.failed() })
	}
	for i, s := range slices.Backward(ran) {
		if s.reported {
			return ran[i : i+1]
		}
	}
	return ran[len(ran)-1:]
}
