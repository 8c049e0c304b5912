package policy

import (
	"fmt"

	"signalbox/internal/workflow/wording"
)

// ConcernKind says why a person must look at something in a change's content. It is stored with the run.
type ConcernKind string

const (
	// KnownSecret: the value of a variable that is secret on this machine. What is the variable's name.
	KnownSecret ConcernKind = "known_secret"
	// LikelySecret: text with the form of a token or a key. What is its kind, for people.
	LikelySecret ConcernKind = "likely_secret"
	// HiddenText: characters that make a reader see something other than what is there. What is the first of them.
	HiddenText ConcernKind = "hidden_text"
	// HiddenInRequest: characters of the request that no reader sees and that were removed before an agent read
	// it. What is their number.
	HiddenInRequest ConcernKind = "hidden_in_request"
	// CommentInRequest: characters in comments of the request, which a web page doesn't show. The agent read them.
	// What is their number.
	CommentInRequest ConcernKind = "comment_in_request"
	// FilteredFile: a git filter of the user, such as LFS, would store the file differently. No filter runs on an
	// agent's files. What is the filter's name.
	FilteredFile ConcernKind = "filtered_file"
)

// Concern is something in a change's content, in a file's name, in a commit's message or in the request, that a
// person must agree to. No field holds a secret's value.
type Concern struct {
	Kind ConcernKind
	// What is one line; Kind says what it means.
	What string
	// Path is the file's path, with secrets masked; empty if no file is concerned. Line counts from 1; 0 is the
	// name of the file itself.
	Path string
	Line int
	// Commit is the id of the commit whose message has it; empty for the rest. Path is empty then.
	Commit string
}

// Flag returns the concern as a reason to look, on one line. more is the number of further lines in the same
// file with the same concern.
func (c Concern) Flag(more int) string {
	where := wording.Shown(c.Path)
	if c.Commit != "" {
		where = "the message of commit " + wording.ShortID(c.Commit)
	}
	if c.Line > 0 {
		where += fmt.Sprintf(", line %d", c.Line)
	}
	if more > 0 {
		where += fmt.Sprintf(" and %s more", wording.Count(more, "line"))
	}
	switch {
	case c.Kind == HiddenInRequest:
		return fmt.Sprintf("hidden text was removed from the request: %s characters", c.What)
	case c.Kind == CommentInRequest:
		return fmt.Sprintf("the request has comments that a web page hides: %s characters", c.What)
	case c.Kind == FilteredFile:
		return fmt.Sprintf("it changes %s, which your git passes through the filter %s: it is recorded as the agent left it, unfiltered", where, wording.Printable(c.What))
	case c.Kind == KnownSecret && c.Line == 0:
		return fmt.Sprintf("it names a file by the value of %s: %s", wording.Printable(c.What), where)
	case c.Kind == KnownSecret:
		return fmt.Sprintf("it writes the value of %s into %s", wording.Printable(c.What), where)
	case c.Kind == LikelySecret && c.Line == 0:
		return fmt.Sprintf("it names a file by what looks like %s: %s", c.What, where)
	case c.Kind == LikelySecret:
		return fmt.Sprintf("it adds what looks like %s to %s", c.What, where)
	}
	return fmt.Sprintf("it adds characters that cannot be seen (%s) to %s", c.What, where)
}

// MaxFlags is how many reasons a stop lists. The change itself shows the rest.
const MaxFlags = 20

// Flags returns the reasons to look: one for each kind of concern in each file, in the order in which they were
// found. The one after MaxFlags says how many more there are. It is nil without concerns.
func Flags(concerns []Concern) (flags []string) {
	type place struct {
		kind       ConcernKind
		what, path string
		commit     string
		named      bool
	}
	placeOf := func(c Concern) place { return place{c.Kind, c.What, c.Path, c.Commit, c.Line == 0} }
	more := map[place]int{}
	var order []Concern
	for _, c := range concerns {
		at := placeOf(c)
		if more[at]++; more[at] == 1 {
			order = append(order, c)
		}
	}
	for i, c := range order {
		if i == MaxFlags {
			return append(flags, fmt.Sprintf("there is more of the kind in %d places", len(order)-i))
		}
		flags = append(flags, c.Flag(more[placeOf(c)]-1))
	}
	return flags
}
