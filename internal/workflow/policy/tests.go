package policy

import (
	"fmt"

	"signalbox/internal/workflow/wording"
)

// TestFile is what a change did to a file of tests. The counts come from patterns for the file's language, not from
// a parser: they are near enough to notice that something is missing.
type TestFile struct {
	// Path is the file's path, with secrets masked.
	Path string
	// Gone is true if the file was removed, or moved. Emptied is true if nothing but comments is left in it.
	Gone, Emptied bool
	// MovedTo is the path of a new file with the content of the one that is gone, with secrets masked; empty if there
	// is none. A runner finds tests by their names and folders, so a moved test may never run again.
	MovedTo string
	// Before and After are the counts before and after the change. Comments don't count.
	Before, After TestCount
	// Lines is true for a file of an unknown language: its checks are lines that aren't blank.
	Lines bool `json:",omitempty"`
	// Ends is how many places are new or changed that can end the test program early or choose which tests run, such
	// as os.Exit. It counts new files too, and comments.
	Ends int
}

// TestCount counts a file's test cases, such as functions named Test, the places that skip one, and the checks, such
// as assertions.
type TestCount struct{ Cases, Skips, Checks int }

// Weakened returns the reasons to look at a change of tests, at most one for each file, the gravest. A wrong change
// passes if tests that were there before are missing, or if the program ends before they run.
//
// A rewritten test may count as weakened. A person sees the difference at a glance.
func Weakened(files []TestFile) (reasons []string) {
	for _, f := range files {
		name := wording.Printable(f.Path)
		fewer := func(what string, before, after int) string {
			return fmt.Sprintf("it leaves %d of %s in %s", after, wording.Count(before, what), name)
		}
		switch b, a := f.Before, f.After; {
		case f.Gone && f.MovedTo != "":
			reasons = append(reasons, "it moves the tests in "+name+" to "+wording.Printable(f.MovedTo)+", where they may not run")
		case f.Gone:
			reasons = append(reasons, "it removes the tests in "+name)
		case f.Emptied:
			reasons = append(reasons, "it empties "+name+", which held tests")
		case f.Ends > 0:
			reasons = append(reasons, fmt.Sprintf("it adds or changes what can end the tests early, or leave some out, in %s (%d)", name, f.Ends))
		case a.Cases < b.Cases:
			reasons = append(reasons, fewer("test case", b.Cases, a.Cases))
		case a.Skips > b.Skips:
			reasons = append(reasons, fmt.Sprintf("it skips tests in %s (%d, before %d)", name, a.Skips, b.Skips))
		case a.Checks < b.Checks && f.Lines:
			reasons = append(reasons, fewer("line", b.Checks, a.Checks))
		case a.Checks < b.Checks:
			reasons = append(reasons, fewer("check", b.Checks, a.Checks))
		}
	}
	return reasons
}
