package workflow

// EventName names an event in documents: the lines of events.jsonl and, in time, other engines' histories. A name is never
// changed and never used again for something else, whatever becomes of the Go type.
type EventName string

// Names that stand for no Event: the store writes them itself.
const (
	// EventCreated: the run's documents were made.
	EventCreated = "Created"
	// EventRecovered stands in for a line that a crash between the two writes of a transition left out.
	EventRecovered = "Recovered"
)

// The name of each event; each type says what happened.
func (Admitted) Name() EventName            { return "Admitted" }
func (Named) Name() EventName               { return "Named" }
func (Waiting) Name() EventName             { return "Waiting" }
func (StopRequested) Name() EventName       { return "StopRequested" }
func (Interrupted) Name() EventName         { return "Interrupted" }
func (Prepared) Name() EventName            { return "Prepared" }
func (Resumed) Name() EventName             { return "Resumed" }
func (Retried) Name() EventName             { return "Retried" }
func (Approved) Name() EventName            { return "Approved" }
func (SyncOrdered) Name() EventName         { return "SyncOrdered" }
func (Rejected) Name() EventName            { return "Rejected" }
func (AgentReported) Name() EventName       { return "AgentReported" }
func (SessionBegan) Name() EventName        { return "SessionBegan" }
func (SessionUsed) Name() EventName         { return "SessionUsed" }
func (WorkLaid) Name() EventName            { return "WorkLaid" }
func (WorkFound) Name() EventName           { return "WorkFound" }
func (BranchMoved) Name() EventName         { return "BranchMoved" }
func (Asked) Name() EventName               { return "Asked" }
func (Answered) Name() EventName            { return "Answered" }
func (Withdrawn) Name() EventName           { return "Withdrawn" }
func (DependenciesChecked) Name() EventName { return "DependenciesChecked" }
func (BranchCreated) Name() EventName       { return "BranchCreated" }
func (EnvironmentDetected) Name() EventName { return "EnvironmentDetected" }
func (EnvironmentCreated) Name() EventName  { return "EnvironmentCreated" }
func (DesignFound) Name() EventName         { return "DesignFound" }
func (PlanAnswered) Name() EventName        { return "PlanAnswered" }
func (PlanWritten) Name() EventName         { return "PlanWritten" }
func (AnswerRefused) Name() EventName       { return "AnswerRefused" }
func (RepairAnswered) Name() EventName      { return "RepairAnswered" }
func (EnvironmentRenewed) Name() EventName  { return "EnvironmentRenewed" }
func (SetUpAdopted) Name() EventName        { return "SetUpAdopted" }
func (EnvironmentKept) Name() EventName     { return "EnvironmentKept" }
func (SetUpEnded) Name() EventName          { return "SetUpEnded" }
func (CommentPosted) Name() EventName       { return "CommentPosted" }
func (Implemented) Name() EventName         { return "Implemented" }
func (ChangeRecorded) Name() EventName      { return "ChangeRecorded" }
func (ChangeRefused) Name() EventName       { return "ChangeRefused" }
func (TestsEnded) Name() EventName          { return "TestsEnded" }
func (ReviewAnswered) Name() EventName      { return "ReviewAnswered" }
func (AgentFailed) Name() EventName         { return "AgentFailed" }
func (PullRequestOpened) Name() EventName   { return "PullRequestOpened" }
func (ChecksEnded) Name() EventName         { return "ChecksEnded" }
func (BaseMerged) Name() EventName          { return "BaseMerged" }
func (Merged) Name() EventName              { return "Merged" }
func (BaseMoved) Name() EventName           { return "BaseMoved" }
func (HeadMoved) Name() EventName           { return "HeadMoved" }
func (PullRequestClosed) Name() EventName   { return "PullRequestClosed" }
func (EnvironmentRemoved) Name() EventName  { return "EnvironmentRemoved" }
func (AgreementFound) Name() EventName      { return "AgreementFound" }
func (AgreementKept) Name() EventName       { return "AgreementKept" }
func (RequestClosed) Name() EventName       { return "RequestClosed" }
func (ActionFailed) Name() EventName        { return "ActionFailed" }
func (Waited) Name() EventName              { return "Waited" }
func (WorkDropped) Name() EventName         { return "WorkDropped" }
