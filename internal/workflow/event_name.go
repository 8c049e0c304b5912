package workflow

// EventName names an event in documents: the lines of events.jsonl and, in time, other engines' histories. A name never changes and is never
// reused for something else, even if the Go type is renamed.
type EventName string

// Two names stand for no Event; the store writes them itself.
const (
	// EventCreated: the run's documents were made.
	EventCreated = "Created"
	// EventRecovered replaces a line that a crash between the two writes of a transition left out.
	EventRecovered = "Recovered"
)

// NameOf returns the event's name in documents. The type's comment says what happened.
func NameOf(event Event) EventName {
	switch event.(type) {
	case Admitted:
		return "Admitted"
	case Named:
		return "Named"
	case Waiting:
		return "Waiting"
	case StopRequested:
		return "StopRequested"
	case Interrupted:
		return "Interrupted"
	case Prepared:
		return "Prepared"
	case Resumed:
		return "Resumed"
	case Retried:
		return "Retried"
	case Approved:
		return "Approved"
	case SyncOrdered:
		return "SyncOrdered"
	case Woken:
		return "Woken"
	case Rejected:
		return "Rejected"
	case AgentReported:
		return "AgentReported"
	case SessionBegan:
		return "SessionBegan"
	case SessionUsed:
		return "SessionUsed"
	case SessionBaseSet:
		return "WorkLaid"
	case WorkFound:
		return "WorkFound"
	case BranchMoved:
		return "BranchMoved"
	case Asked:
		return "Asked"
	case Answered:
		return "Answered"
	case Withdrawn:
		return "Withdrawn"
	case DependenciesChecked:
		return "DependenciesChecked"
	case BranchCreated:
		return "BranchCreated"
	case EnvironmentDetected:
		return "EnvironmentDetected"
	case EnvironmentCreated:
		return "EnvironmentCreated"
	case DesignFound:
		return "DesignFound"
	case PlanAnswered:
		return "PlanAnswered"
	case PlanWritten:
		return "PlanWritten"
	case AnswerRefused:
		return "AnswerRefused"
	case RepairAnswered:
		return "RepairAnswered"
	case EnvironmentRestored:
		return "EnvironmentRenewed"
	case SetUpAdopted:
		return "SetUpAdopted"
	case SnapshotTaken:
		return "EnvironmentKept"
	case SetUpEnded:
		return "SetUpEnded"
	case CommentPosted:
		return "CommentPosted"
	case Implemented:
		return "Implemented"
	case ChangeRecorded:
		return "ChangeRecorded"
	case ChangeRefused:
		return "ChangeRefused"
	case TestsEnded:
		return "TestsEnded"
	case ReviewAnswered:
		return "ReviewAnswered"
	case AgentFailed:
		return "AgentFailed"
	case PullRequestOpened:
		return "PullRequestOpened"
	case ChecksEnded:
		return "ChecksEnded"
	case ChecksRerun:
		return "ChecksRerun"
	case BaseMerged:
		return "BaseMerged"
	case Merged:
		return "Merged"
	case BaseMoved:
		return "BaseMoved"
	case HeadMoved:
		return "HeadMoved"
	case PullRequestClosed:
		return "PullRequestClosed"
	case EnvironmentRemoved:
		return "EnvironmentRemoved"
	case AgreementFound:
		return "AgreementFound"
	case AgreementKept:
		return "AgreementKept"
	case RequestClosed:
		return "RequestClosed"
	case ActionFailed:
		return "ActionFailed"
	case Waited:
		return "Waited"
	case WorkDropped:
		return "WorkDropped"
	}
	return "" // a test finds an event without a name
}
