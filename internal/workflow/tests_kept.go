package workflow

// TestFile is what a change did to a file of tests. The counts are of what a reader would call a
// test case, a skip and a check of the tests' language, as far as patterns tell.
type TestFile struct {
	// Path is the file, as it may be shown.
	Path string
	// Gone: it is removed, and lies nowhere else with the same content. Emptied: nothing but comments is left of it.
	Gone, Emptied bool
	Before, After TestCount
	// Ends is how many places that can end the program of the tests early, or choose which run, are new or changed. Such
	// a place in a new file counts too.
	Ends int
}

// TestCount is how many there are in a file.
type TestCount struct{ Cases, Skips, Checks int }
