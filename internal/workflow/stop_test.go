package workflow

import "testing"

func TestAPersonHearsOfWhatNeedsThemAndOfTheEnd(t *testing.T) {
	t.Parallel()
	stopped := func(code string) Run { return Run{State: NeedsInput, Error: &Error{ReasonCode: code}} }
	for name, c := range map[string]struct {
		run    Run
		want   Notice
		urgent bool
	}{
		"a running one goes on by itself":     {run: Run{State: Running}},
		"a queued one goes on by itself":      {run: Run{State: Queued}},
		"a question waits":                    {run: Run{State: Running, Details: Details{Question: &Question{}}}, want: NoticeAsks, urgent: true},
		"an approval waits":                   {run: stopped(ApprovalRequired), want: NoticeNeeded, urgent: true},
		"a person stopped it":                 {run: stopped(StopRequestedCode)},
		"its process was told to end":         {run: stopped(InterruptedCode)},
		"it was made ready for a session":     {run: stopped(PreparedCode)},
		"it failed":                           {run: Run{State: Failed, Error: &Error{}}, want: NoticeFailed},
		"it is merged":                        {run: Run{State: Done}, want: NoticeMerged},
		"a person gave it up, and knows that": {run: Run{State: Canceled}},
	} {
		if got := c.run.Notice(); got != c.want || got.Urgent() != c.urgent {
			t.Errorf("%s: notice %q, urgent %v; want %q, %v", name, got, got.Urgent(), c.want, c.urgent)
		}
	}
}
