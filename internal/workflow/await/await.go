// Package await owns the words for what a run waits for on a forge, and for who can end the wait: facts that any front end can show. It refuses to
// judge how long that may take.
package await

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Kind is what ends a wait.
type Kind string

const (
	// Approval: people approve the head.
	Approval Kind = "approval"
	// Review: those who want changes of the head review it again.
	Review Kind = "review"
	// Merge: someone who may merge it does. The account of this run may not, because the change comes from a fork.
	Merge Kind = "merge"
	// Queue: the forge's merge queue merges it, or gives it back.
	Queue Kind = "queue"
	// Checks: the forge's checks end.
	Checks Kind = "checks"
	// Forge: the forge shows something that it is about to show.
	Forge Kind = "forge"
)

// Kinds lists every Kind.
var Kinds = []Kind{Approval, Review, Merge, Queue, Checks, Forge}

// Await is one wait.
type Await struct {
	Kind Kind `json:"kind"`
	// Of are the people and teams that were asked, those who want changes, or what is missing, as the forge names them. It may be empty: then anyone
	// counts who may do it.
	Of []string `json:"of,omitempty"`
	// Missing is how many approvals are missing; 0 if that is not what it waits for.
	Missing int `json:"missing,omitzero"`
	// Required: the forge asks for it, so that no order to Signalbox takes its place.
	Required bool                       `json:"required,omitzero"`
	Unknown  map[string]json.RawMessage `json:",embed"`
}

// People reports whether it is people who end the wait. It may take days.
func (a *Await) People() bool {
	return a != nil && (a.Kind == Approval || a.Kind == Review || a.Kind == Merge)
}

// What says what is waited for: "an approval of the pull request".
func (a *Await) What() string {
	switch a.Kind {
	case Approval:
		if a.Missing > 1 {
			return strconv.Itoa(a.Missing) + " more approvals of the pull request"
		}
		return "an approval of the pull request"
	case Review:
		return "another review by those who want changes"
	case Merge:
		return "a maintainer to merge the pull request"
	case Queue:
		return "the forge's merge queue"
	case Checks:
		return "the forge's checks"
	}
	return "the forge"
}

// Do says what a person does about it; empty if it ends by itself.
func (a *Await) Do() string {
	switch a.Kind {
	case Approval:
		return "approve the pull request"
	case Review:
		return "review the pull request again"
	case Merge:
		return "ask a maintainer to merge the pull request"
	}
	return ""
}

// String is What with the names.
func (a *Await) String() string {
	if len(a.Of) == 0 {
		return a.What()
	}
	return a.What() + " (" + strings.Join(a.Of, ", ") + ")"
}
