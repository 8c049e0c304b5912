package workflow

import "reflect"

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

// eventNames holds the name of each event; the type's comment says what happened.
var eventNames = map[reflect.Type]EventName{
	reflect.TypeFor[Admitted]():            "Admitted",
	reflect.TypeFor[Named]():               "Named",
	reflect.TypeFor[Waiting]():             "Waiting",
	reflect.TypeFor[StopRequested]():       "StopRequested",
	reflect.TypeFor[Interrupted]():         "Interrupted",
	reflect.TypeFor[Prepared]():            "Prepared",
	reflect.TypeFor[Resumed]():             "Resumed",
	reflect.TypeFor[Retried]():             "Retried",
	reflect.TypeFor[Approved]():            "Approved",
	reflect.TypeFor[SyncOrdered]():         "SyncOrdered",
	reflect.TypeFor[Rejected]():            "Rejected",
	reflect.TypeFor[AgentReported]():       "AgentReported",
	reflect.TypeFor[SessionBegan]():        "SessionBegan",
	reflect.TypeFor[SessionUsed]():         "SessionUsed",
	reflect.TypeFor[SessionBaseSet]():      "WorkLaid",
	reflect.TypeFor[WorkFound]():           "WorkFound",
	reflect.TypeFor[BranchMoved]():         "BranchMoved",
	reflect.TypeFor[Asked]():               "Asked",
	reflect.TypeFor[Answered]():            "Answered",
	reflect.TypeFor[Withdrawn]():           "Withdrawn",
	reflect.TypeFor[DependenciesChecked](): "DependenciesChecked",
	reflect.TypeFor[BranchCreated]():       "BranchCreated",
	reflect.TypeFor[EnvironmentDetected](): "EnvironmentDetected",
	reflect.TypeFor[EnvironmentCreated]():  "EnvironmentCreated",
	reflect.TypeFor[DesignFound]():         "DesignFound",
	reflect.TypeFor[PlanAnswered]():        "PlanAnswered",
	reflect.TypeFor[PlanWritten]():         "PlanWritten",
	reflect.TypeFor[AnswerRefused]():       "AnswerRefused",
	reflect.TypeFor[RepairAnswered]():      "RepairAnswered",
	reflect.TypeFor[EnvironmentRestored](): "EnvironmentRenewed",
	reflect.TypeFor[SetUpAdopted]():        "SetUpAdopted",
	reflect.TypeFor[SnapshotTaken]():       "EnvironmentKept",
	reflect.TypeFor[SetUpEnded]():          "SetUpEnded",
	reflect.TypeFor[CommentPosted]():       "CommentPosted",
	reflect.TypeFor[Implemented]():         "Implemented",
	reflect.TypeFor[ChangeRecorded]():      "ChangeRecorded",
	reflect.TypeFor[ChangeRefused]():       "ChangeRefused",
	reflect.TypeFor[TestsEnded]():          "TestsEnded",
	reflect.TypeFor[ReviewAnswered]():      "ReviewAnswered",
	reflect.TypeFor[AgentFailed]():         "AgentFailed",
	reflect.TypeFor[PullRequestOpened]():   "PullRequestOpened",
	reflect.TypeFor[ChecksEnded]():         "ChecksEnded",
	reflect.TypeFor[BaseMerged]():          "BaseMerged",
	reflect.TypeFor[Merged]():              "Merged",
	reflect.TypeFor[BaseMoved]():           "BaseMoved",
	reflect.TypeFor[HeadMoved]():           "HeadMoved",
	reflect.TypeFor[PullRequestClosed]():   "PullRequestClosed",
	reflect.TypeFor[EnvironmentRemoved]():  "EnvironmentRemoved",
	reflect.TypeFor[AgreementFound]():      "AgreementFound",
	reflect.TypeFor[AgreementKept]():       "AgreementKept",
	reflect.TypeFor[RequestClosed]():       "RequestClosed",
	reflect.TypeFor[ActionFailed]():        "ActionFailed",
	reflect.TypeFor[Waited]():              "Waited",
	reflect.TypeFor[WorkDropped]():         "WorkDropped",
}

// NameOf returns the event's name in documents.
func NameOf(event Event) EventName { return eventNames[reflect.TypeOf(event)] }
