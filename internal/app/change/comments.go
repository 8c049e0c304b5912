package change

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/problem"
	"signalbox/internal/redact"
)

// Comment is what a person says about a line of a change: a line of the new file, or one that was removed from the old one.
type Comment struct {
	Path string `json:"path"`
	// Old: Line counts in the file as it was before.
	Old  bool   `json:"old,omitempty"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

const (
	// maxComments is more than an agent answers well at once, and maxComment longer than anyone writes about a line, in bytes.
	maxComments = 100
	maxComment  = 4000
	// maxQuote is how much of a line is quoted, in characters.
	maxQuote = 160
	// maxReason bounds the whole text of a rejection, which every later prompt carries.
	maxReason = 32 << 10
)

// Reason is the text of a rejection: what is to change as a whole, and then each comment with its place and the line it is about, in the
// order of the files. The same comments give the same text.
func (d *Diff) Reason(whole string, comments []Comment) (string, error) {
	var parts []string
	if whole = strings.TrimSpace(redact.Clean(whole)); whole != "" {
		parts = append(parts, whole)
	}
	if len(comments) > maxComments {
		return "", refused("there are %d comments, and at most %d are sent at once", len(comments), maxComments)
	}
	comments = slices.Clone(comments)
	slices.SortStableFunc(comments, func(a, b Comment) int {
		return cmp.Or(d.indexOf(a.Path)-d.indexOf(b.Path), cmp.Compare(a.Line, b.Line), boolCompare(b.Old, a.Old))
	})
	for _, c := range comments {
		text := strings.TrimSpace(redact.Clean(c.Text))
		if text == "" {
			continue
		}
		if len(text) > maxComment {
			return "", refused("the comment on %s:%d has %d bytes, and at most %d are sent", redact.Line(c.Path, nameLimit), c.Line, len(text), maxComment)
		}
		line := d.line(c)
		if line == nil {
			return "", refused("the change has no line %d of %s", c.Line, redact.Line(c.Path, nameLimit))
		}
		place := fmt.Sprintf("%s:%d", d.Find(c.Path).Path, c.Line)
		if c.Old {
			place = fmt.Sprintf("%s, line %d before the change (removed)", d.Find(c.Path).OldPath, c.Line)
		}
		parts = append(parts, fmt.Sprintf("%s\n> %s\n%s", place, redact.Line(line.Text, maxQuote), text))
	}
	if len(parts) == 0 {
		return "", refused("there is neither a text nor a comment")
	}
	reason := strings.Join(parts, "\n\n")
	if len(reason) > maxReason {
		return "", refused("the text has %d bytes, and at most %d are sent", len(reason), maxReason)
	}
	return reason, nil
}

func refused(format string, args ...any) error {
	return &problem.Error{Err: fmt.Errorf(format, args...), Hint: "load the page again and say less, or say it in the text for the whole change", Code: problem.Usage}
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func (d *Diff) indexOf(path string) int {
	return slices.IndexFunc(d.Files, func(f File) bool { return f.Path == path })
}

// line returns the line that a comment is about, nil if the change doesn't show it.
func (d *Diff) line(c Comment) *Line {
	f := d.Find(c.Path)
	if f == nil || c.Line < 1 {
		return nil
	}
	for i := range f.Hunks {
		for j := range f.Hunks[i].Lines {
			l := &f.Hunks[i].Lines[j]
			if c.Old && l.Kind == Removed && l.Old == c.Line || !c.Old && l.New == c.Line {
				return l
			}
		}
	}
	return nil
}
