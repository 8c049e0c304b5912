package policy

import (
	"fmt"

	"signalbox/internal/workflow/wording"
)

// TestFile is what a change did to a file of tests. The counts are of what a reader would call a
// test case, a skip and a check of the tests' language, as far as patterns tell.
type TestFile struct {
	// Path is the file, as it may be shown.
	Path string
	// Gone: it is removed. Emptied: nothing but comments is left of it.
	Gone, Emptied bool
	// MovedTo is a new file with the content of the one that is gone, as it may be shown. A runner finds tests by their names and folders, so
	// a moved test may never run again.
	MovedTo       string
	Before, After TestCount
	// Ends is how many places that can end the program of the tests early, or choose which run, are new or changed. Such
	// a place in a new file counts too.
	Ends int
}

// TestCount is how many there are in a file.
type TestCount struct{ Cases, Skips, Checks int }

// Weakened returns the reasons to look at a change of tests: with fewer of those that were there before, or with an end before they
// ran, a wrong change passes.
// A test that is only written anew is not told apart from one that was Weakened; a person tells that at a glance.
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
			reasons = append(reasons, fmt.Sprintf("it adds or changes what can end the tests early in %s (%d)", name, f.Ends))
		case a.Cases < b.Cases:
			reasons = append(reasons, fewer("test case", b.Cases, a.Cases))
		case a.Skips > b.Skips:
			reasons = append(reasons, fmt.Sprintf("it skips tests in %s (%d, before %d)", name, a.Skips, b.Skips))
		case a.Checks < b.Checks:
			reasons = append(reasons, fewer("check", b.Checks, a.Checks))
		}
	}
	return reasons
}
