package app

import "testing"

func TestARunThatBeginsInTheSecondOfTheOneBeforeIsTheNewest(t *testing.T) {
	t.Parallel()
	before := "20990101-000000-ffffff" // a clock that was set back
	for range 20 {
		id, err := runIDAfter(before)
		if err != nil || id <= before {
			t.Fatalf("%q (%v) does not sort behind %q", id, err, before)
		}
		before = id
	}
}
