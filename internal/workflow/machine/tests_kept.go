package machine

import (
	"fmt"

	"signalbox/internal/workflow"
)

// weakened are the reasons to look at a change of tests: with fewer of those that were there before, or with an end before they
// ran, a wrong change passes.
// A test that is only written anew is not told apart from one that was weakened; a person tells that at a glance.
func weakened(files []workflow.TestFile) (reasons []string) {
	for _, f := range files {
		name := workflow.Printable(f.Path)
		fewer := func(what string, before, after int) string {
			return fmt.Sprintf("it leaves %d of %s in %s", after, workflow.CountNote(before, what), name)
		}
		switch b, a := f.Before, f.After; {
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
