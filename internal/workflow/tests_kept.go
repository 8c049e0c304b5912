package workflow

import "fmt"

// TestFile is what a change did to a file of tests that was there before. The counts are of what a reader would call a
// test case, a skip and a check of the tests' language, as far as patterns tell.
type TestFile struct {
	// Path is the file, as it may be shown.
	Path string
	// Gone: it is removed, and lies nowhere else with the same content. Emptied: nothing but comments is left of it.
	Gone, Emptied bool
	Before, After TestCount
}

// TestCount is how many there are in a file.
type TestCount struct{ Cases, Skips, Checks int }

// weakened are the reasons to look at a change of tests that were there before: with fewer of them a wrong change passes.
// A test that is only written anew is not told apart from one that was weakened; a person tells that at a glance.
func weakened(files []TestFile) (reasons []string) {
	for _, f := range files {
		name := printable(f.Path)
		fewer := func(what string, before, after int) string {
			return fmt.Sprintf("it leaves %d of %s in %s", after, countNote(before, what), name)
		}
		switch b, a := f.Before, f.After; {
		case f.Gone:
			reasons = append(reasons, "it removes the tests in "+name)
		case f.Emptied:
			reasons = append(reasons, "it empties "+name+", which held tests")
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
