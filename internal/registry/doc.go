// Package registry owns the two documents that tell other programs how far the
// work on an issue has come: environments.json, with the operations on its
// entries, and .worktrees/.status/<issue>.json.
//
// It is pure: it reads no file and no clock, and starts nothing. internal/store
// reads and writes the documents, under a lock and atomically.
//
// # Who writes an entry
//
// A run's entry and its issue's status are projections: EntryOf and IssueStatusOf
// derive them from the run, and the engine updates them after each transition.
// Every other entry belongs to the person, script or tool that registered it and
// changes it by the operations here.
//
// # An entry's life
//
//	Register              active, at env-create
//	SetPhase              the same status, at another phase
//	UpdatePR              pr_created, at pr-create
//	MarkMerged            merged, at merge-cleanup
//	MarkAbandoned         abandoned; the phase stays
//	Block, then Unblock   blocked, then the status before it
//	Remove                no entry
//
// Merged is final, and an abandoned entry can only become merged. A block lies over
// active or pr_created and remembers neither; the pull request tells which it was.
//
// # Age
//
// Cleanup measures an entry's age from its last use, and may delete it 7 days after a
// merge and at once when it is abandoned. Anything else that is unused for 30 days is
// listed for a person, and never deleted unasked.
//
// # Recovery
//
// Recover answers what a program should do that finds an entry and doesn't know how
// its work ended: one action, by the entry, its pull request and what is left of its
// environment.
package registry
