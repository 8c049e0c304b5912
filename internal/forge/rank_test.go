package forge

import "testing"

func TestLabelsSayHowUrgentAndHowLargeAnIssueIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		labels         []string
		priority, size string
	}{
		{nil, "", ""},
		{[]string{"bug", "p", "prior", "size", "sized/S", "priority", "P7", "p10"}, "", ""},
		{[]string{"P1"}, "P1", ""},
		{[]string{"p2-medium", "size/S"}, "P2", "S"},
		{[]string{"priority: high", "size: xl"}, "P1", "XL"},
		{[]string{"priority/critical", "Size-XXL"}, "P0", "XXL"},
		{[]string{"priority:P3"}, "P3", ""},
		{[]string{"Priority: Low", "P1", "priority: whatever"}, "P1", ""},
	} {
		if p, s := PriorityOf(c.labels), SizeOf(c.labels); p != c.priority || s != c.size {
			t.Errorf("%q are %q and %q, want %q and %q", c.labels, p, s, c.priority, c.size)
		}
	}
}
