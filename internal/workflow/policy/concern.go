package policy

import (
	"fmt"

	"signalbox/internal/workflow/wording"
)

// ConcernKind says why a person has to look at something in a change's content.
type ConcernKind string

const (
	// KnownSecret: the value of a variable that is a secret here. What names it.
	KnownSecret ConcernKind = "known_secret"
	// LikelySecret: something of the form of a token or key. What is its kind.
	LikelySecret ConcernKind = "likely_secret"
	// HiddenText: characters by which a reader sees something else than is there. What is the first of them.
	HiddenText ConcernKind = "hidden_text"
	// HiddenInRequest: characters of the request that no agent was shown, because no reader of it sees them. What is their number.
	HiddenInRequest ConcernKind = "hidden_in_request"
	// CommentInRequest: characters in comments of the request, which a web page does not show. What is their number.
	CommentInRequest ConcernKind = "comment_in_request"
	// FilteredFile: the file is stored otherwise than it is shown (git LFS), by a filter that does not run in environments.
	// What is the filter's name.
	FilteredFile ConcernKind = "filtered_file"
)

// Concern is something in a change's content, in a file's name or in a commit's message, that a person must agree to.
type Concern struct {
	Kind ConcernKind
	What string
	// Path is the file, as it may be shown. Line counts from 1; 0 means the name itself.
	Path string
	Line int
	// Commit is the one whose message has it; there is no Path then.
	Commit string
}

// Flag is the concern as a reason to look; so many further lines have the same.
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

// MaxFlags bounds what one stop says; the change itself has the rest.
const MaxFlags = 20

// Flags returns the reasons to look, one for each kind of thing in each file.
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
