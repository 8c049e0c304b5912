package app

import "testing"

func TestALowLimitOfOpenFilesKeepsRunsBackAndGivesNoneUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		runs, working int
		files         uint64
		want          int
	}{
		{runs: 1000, working: 2, files: 1 << 16, want: 1000},
		{runs: 1000, working: 2, files: 1024, want: 704},
		{runs: 300, working: 2, files: 200, want: 2},
		{runs: 1, working: 4, files: 200, want: 4},
	} {
		if got := atOnce(c.runs, c.working, c.files); got != c.want {
			t.Errorf("%d runs, %d of them working, %d files: %d at once, want %d", c.runs, c.working, c.files, got, c.want)
		}
	}
}
