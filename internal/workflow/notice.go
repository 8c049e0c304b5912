package workflow

// Notice is why a person who looks elsewhere should hear of a run.
type Notice string

const (
	NoticeAsks   Notice = "asks"   // its agent waits for an answer
	NoticeNeeded Notice = "needed" // it cannot go on without a person
	NoticeFailed Notice = "failed" // it failed
	NoticeMerged Notice = "merged" // it is done
)

// Urgent reports whether the run waits for a person.
func (n Notice) Urgent() bool { return n == NoticeAsks || n == NoticeNeeded }

// Notice is what to tell of the run as it is now; empty where it goes on by itself, or stands still because a person said so.
func (r *Run) Notice() Notice {
	switch {
	case r.State == Running && r.Details.Question != nil:
		return NoticeAsks
	case r.State == Done:
		return NoticeMerged
	case r.State == Failed:
		return NoticeFailed
	case r.State != NeedsInput || r.Error == nil:
		return ""
	}
	switch r.Error.ReasonCode {
	case StopRequestedCode, InterruptedCode, PreparedCode:
		return ""
	}
	return NoticeNeeded
}
