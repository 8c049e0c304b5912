package commandline

import "time"

// How people read times: in local time, on the clock in the lines of a stream, and elsewhere with the day.
// Documents, --json and what the published formats say are RFC 3339.
const (
	clockFormat  = "15:04:05"
	momentFormat = "2006-01-02 15:04:05"
)

func Clock(t time.Time) string { return t.Local().Format(clockFormat) }

func When(t time.Time) string { return t.Local().Format(momentFormat) }

// WhenKnown is when, and nothing for a time that is not known.
func WhenKnown(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return When(t)
}
