package workflow

import (
	"cmp"
	"strings"
	"time"

	"signalbox/internal/workflow/await"
	"signalbox/internal/workflow/wording"
)

// Details is what Signalbox knows about a run beyond the published format (the key "signalbox" of stage.json): its exact position, the pending
// actions, the budgets used, and the facts gathered on the way. What an action does depends on this alone, so any host can continue a run.
type Details struct {
	// Number is the request's number. Branch names, environments and status files carry it.
	Number int `json:"number"`
	// Transition counts saved transitions from 1; the lines of events.jsonl have the same number.
	Transition int `json:"transition"`
	// Epoch is the fencing token of the lock under which the run was last saved. The store refuses a save under a smaller one, so a runner that
	// lost its lock can't overwrite its successor's.
	Epoch int64 `json:"epoch"`
	// Preparing: the run was admitted only to make its environment for a session. Dependencies and agents are not checked, and the session, not
	// the comment on the issue, says how far the request is.
	Preparing bool `json:"preparing,omitzero"`
	// Presence is what the engine of this epoch knows about the environment. Another engine knows nothing.
	Presence Presence `json:"presence,omitzero"`

	// Phase and StepName are the present phase, by number and by name.
	Phase    Phase    `json:"phase"`
	StepName StepName `json:"step"`
	// SettingUp: within design-check (or, before the plan, env-create) the environment is being set up. The comment on the issue shows it as
	// environment_setup.
	SettingUp bool          `json:"setting_up"`
	Phases    []PhaseRecord `json:"phases"`
	// Pending are the actions ordered and not yet answered, in the order in which they are performed. They were saved before the first of them was
	// performed, so a restart performs them again.
	Pending []Action `json:"pending"`
	// Orders counts the actions ever ordered; every Key begins with one of these numbers.
	Orders int `json:"orders"`

	Settings Settings `json:"settings"`
	Used     Used     `json:"used"`
	// Program implements the request instead of the configuration's agents, because a person named it when the run began or continued; empty if
	// no one did.
	Program string `json:"program,omitempty"`

	// Branch is signalbox/<n>-<slug>, Base the branch to merge into. BaseCommit is where the branch began and Head the last commit recorded on it,
	// as full object ids; both are empty before the branch is made.
	Branch     string    `json:"branch"`
	Base       string    `json:"base"`
	BaseCommit string    `json:"base_commit"`
	Head       string    `json:"head"`
	Approval   *Approval `json:"approval"`
	// Rejection is the last one; nil once a person approved the very commit that was sent back.
	Rejection *Rejection `json:"rejection,omitempty"`
	// BranchAt is the commit from which the branch may be moved to Head without losing anything: where Signalbox put it last, or where a person put
	// it, if their commits are kept by now. Moves lists the latter.
	BranchAt string       `json:"branch_at,omitempty"`
	Moves    []BranchMove `json:"branch_moves,omitempty"`

	// SessionBase is the commit on which a session works, if that is not Head: Head merged with the unmerged work of the requests that this one
	// depends on. It never becomes part of the change; empty once the run continues.
	SessionBase string `json:"upon,omitempty"`

	// EnvID is empty until the environment is made.
	EnvID string `json:"env_id"`
	// Area is the top folder that most files of the change are in; empty for the root, and before there is a change.
	Area string `json:"area,omitempty"`
	// EnvPath is relative to the project root.
	EnvPath string `json:"env_path"`
	// Isolation says what stands between the agent and the host: "bubblewrap" or IsolationNone.
	Isolation string `json:"isolation"`
	// Fingerprint identifies what the environment is built on and, once it was restored for a setup, that setup. It names the snapshot.
	Fingerprint string    `json:"fingerprint"`
	EnvCreated  time.Time `json:"env_created_at,omitzero"`
	EnvRemoved  bool      `json:"env_removed"`

	// Detection is what was found in the project's files at BaseCommit.
	Detection *Detection `json:"detection,omitempty"`
	// Plan is the accepted plan until planning.json is written; the file has it from then on.
	Plan *Plan `json:"plan,omitempty"`
	// Calling is what the call in hand has used and left so far; after a crash it is booked from here. Conversations are what each role's next call
	// resumes. Spent is the usage of all calls that ended.
	Calling       *Call                 `json:"calling,omitempty"`
	Conversations map[Role]Conversation `json:"conversations,omitempty"`
	Spent         Usage                 `json:"spent"`
	// Assistants are the agents that took part, by role, program and model, in the order of their first calls.
	Assistants []Assistant `json:"assistants,omitempty"`
	// RepairCalls counts the calls of the repairer, for which the published counters have no word.
	RepairCalls int `json:"repair_calls,omitempty"`
	// Days is the usage by day (UTC), oldest first. The day's budget of all runs is counted from it.
	Days []Day `json:"days,omitempty"`
	// Question is what the call in hand asks, Questions how many were ever asked. Answer is the last answer taken, Allowed the patterns that people
	// added by answering, by role.
	Question  *Question         `json:"question,omitempty"`
	Questions int               `json:"questions,omitempty"`
	Answer    *Answer           `json:"answer,omitempty"`
	Allowed   map[Role][]string `json:"allowed,omitempty"`
	// Denied are the tools that the last call was not allowed to use.
	Denied []string `json:"denied,omitempty"`
	// ParkedUntil: the run is QUEUED until then, when a limit of the model's provider ends, or when it looks again for people on the forge.
	ParkedUntil *time.Time `json:"parked_until,omitempty"`
	// StepBase is the commit on which the change in hand is recorded: one commit per step, however many attempts it takes.
	StepBase string `json:"step_base"`
	// Fixes counts the changes made in review-fix; their ids are R01, R02, … FixAttempt counts the calls for the present one, from 1.
	Fixes      int `json:"mends"`
	FixAttempt int `json:"mend_attempt"`
	// SetUp is null if there is nothing to set up, or if that is not known yet.
	SetUp *SetUp `json:"set_up"`
	// Tested is the result of the tests at BaseCommit; null until they ran there.
	Tested *BaseCheck `json:"base_check,omitempty"`
	// Warm: the environment started from a snapshot.
	Warm bool `json:"warm,omitzero"`
	// FromBase: when it is admitted next, the run continues from its base branch as it is then.
	FromBase bool `json:"from_base,omitzero"`
	// Findings are what review-fix has to answer; empty once it did.
	Findings []Finding `json:"findings"`
	// Conflicts are the files whose conflict markers the agent has to resolve.
	Conflicts []string `json:"conflicts,omitempty"`
	Blocked   *Blocked `json:"blocked"`
	// Flags are the reasons why a person must approve the change, with automatic approval too.
	Flags []string `json:"flags"`
	// Failure is the end of the last failure's message, for the next prompt and for people.
	Failure string `json:"failure,omitempty"`

	PullRequest *PullRequest `json:"pull_request"`
	// Objections are those on the forge that the run took up, oldest first.
	Objections []Objection `json:"objections,omitempty"`
	// Evidence lists every test that Signalbox ran, oldest first.
	Evidence []Evidence `json:"evidence"`
	// MergeCommit is the full id of the merge. From then on the run can't be given up.
	MergeCommit string `json:"merge_commit,omitempty"`
	// SavedWork are the refs, oldest first, of unrecorded work that was in the environment when the run continued there: a session's, a person's, or
	// an interrupted attempt's. It isn't part of the change.
	SavedWork []string `json:"aside,omitempty"`
	// KeptRef holds the work of a removed branch; empty if there was none.
	KeptRef string `json:"kept_ref,omitempty"`
	// Canceling: a person gave the run up, and its branch and environment are being removed.
	Canceling bool `json:"canceling"`

	Unknown Unknown `json:",embed"`
}

// IsolationNone: commands run on the host as the user who started the run.
const IsolationNone = "none"

// PhaseRecord is the result of one phase. Its note says what came of it, or why it was skipped.
type PhaseRecord struct {
	Phase     Phase      `json:"phase"`
	Step      StepName   `json:"step"`
	Status    StepStatus `json:"status"`
	StartedAt *time.Time `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at"`
	Note      string     `json:"note,omitempty"`
	Unknown   Unknown    `json:",embed"`
}

// Settings are the configuration that a run started with. They are frozen, so that editing the file during a run does not move its goal.
type Settings struct {
	// Workflow is "full", "simple" or "custom"; Phases are the optional ones that it includes.
	Workflow string     `json:"workflow"`
	Phases   []StepName `json:"phases"`
	// AutoApprove passes approval-wait unless a flag asks for a person.
	AutoApprove bool `json:"auto_approve"`
	// ApproveOnForge passes it as AutoApprove does, and has a person approve the pull request before it is merged: there, or here.
	ApproveOnForge bool `json:"approve_on_forge,omitzero"`
	// Drafts: the pull request is opened as a draft with the first step that is done, if nobody is to be asked before.
	Drafts bool `json:"drafts,omitzero"`
	// Tests are the project's test commands, each one line for sh; empty means none are known.
	Tests []string `json:"tests"`
	// OfRequest are those of Tests that only the request brings. They prove nothing by themselves: its author may be a stranger.
	OfRequest []string `json:"tests_of_request,omitempty"`
	// TestsE2E are its end-to-end tests, lines for sh too. They run after Tests, when a change has to pass.
	TestsE2E []string `json:"tests_e2e,omitempty"`
	// PushesTo names the remote that branches and merges are pushed to; empty when there is none. With a slash it is the path of the fork that has the
	// branch: a pull request offers it from there.
	PushesTo string `json:"pushes_to,omitempty"`
	// Check is the health check whose failure the run repairs; it is re-run with every test of the change.
	Check *HealthCheck `json:"check,omitempty"`
	// Area is the part of the project that the request says it is about; empty if it does not say.
	Area string `json:"area,omitempty"`
	// Stress is the stress test's command; empty skips the phase.
	Stress string `json:"stress,omitempty"`
	// HasPlanner and HasReviewer say whether an agent is configured for the role.
	HasPlanner  bool `json:"has_planner"`
	HasReviewer bool `json:"has_reviewer"`
	// NoRepairer: no agent corrects a setup that fails.
	NoRepairer bool `json:"no_repairer,omitempty"`
	// EnvironmentName, SetUp and Verification are the project's own settings for its environment. If they are empty, the plan's count, and then what
	// was detected.
	EnvironmentName string         `json:"environment_name,omitempty"`
	SetUp           []string       `json:"setup_commands,omitempty"`
	Verification    []Verification `json:"verification,omitempty"`
	// NoSetUp: the project says that there is nothing to set up, even if its files or a plan ask for it.
	NoSetUp bool `json:"no_set_up,omitzero"`
	// Environments are the names that a planner may choose from. Image is the container image of all of them, Images those of single ones, by name.
	Environments []string          `json:"environments,omitempty"`
	Image        string            `json:"image,omitempty"`
	Images       map[string]string `json:"images,omitempty"`
	// StopOnSetUpFailure: a failed setup stops the run. Otherwise it continues with a warning.
	StopOnSetUpFailure bool    `json:"stop_on_set_up_failure"`
	Limits             Limits  `json:"limits"`
	Unknown            Unknown `json:",embed"`
}

// Limits are the budgets of a run. Durations are seconds in the document.
type Limits struct {
	// ReviewRounds is how many reviews or stress tests in a row may find something before a person is asked.
	ReviewRounds int `json:"review_rounds"`
	// CIFailures is how many checks in a row may fail before a person is asked.
	CIFailures int `json:"ci_failures"`
	// SetUpRepairs is how often the repairer may correct the setup, its verification included.
	SetUpRepairs int `json:"set_up_repairs"`
	// Autofix is how often one step goes back to the implementer because its tests failed.
	Autofix int `json:"autofix"`
	// ContractRetries is how often a role is asked again after an answer that breaks its contract.
	ContractRetries int `json:"contract_retries"`
	// AgentRetries is how often an agent that crashed, hung or changed nothing is started again.
	AgentRetries int `json:"agent_retries"`
	// Tokens, CostMicroUSD (millionths of a US dollar) and Calls are what the agents of a run may use before a person
	// is asked; 0 is no limit.
	Tokens       int64 `json:"tokens,omitempty"`
	CostMicroUSD int64 `json:"cost_micro_usd,omitempty"`
	Calls        int   `json:"calls,omitempty"`
	// ActionRetries is how often an action is repeated after a failure of git or the forge that may pass.
	ActionRetries int `json:"action_retries"`
	// BaseConflicts is how often the agent resolves conflicts with the base branch before a person is asked, if approval is automatic.
	BaseConflicts int `json:"base_conflicts"`
	// MaxDiffLines is the number of changed lines above which a step's diff is too_large and needs a person.
	MaxDiffLines int `json:"max_diff_lines"`

	// AgentIdleSec is how long an agent may print nothing, AgentTotalSec how long one call may take.
	AgentIdleSec  int `json:"agent_idle_sec"`
	AgentTotalSec int `json:"agent_total_sec"`
	// AnswerWithinSec is how long an agent's question waits until it counts as denied; 0 is half an hour.
	AnswerWithinSec int `json:"answer_within_sec,omitempty"`
	// TestTotalSec is the time budget shared by all commands of one test run, SetUpTotalSec that of each setup command.
	TestTotalSec  int `json:"test_total_sec"`
	SetUpTotalSec int `json:"set_up_total_sec"`
	// ChecksTotalSec is how long the forge's checks may stay silent before a person is asked.
	ChecksTotalSec int     `json:"checks_total_sec"`
	Unknown        Unknown `json:",embed"`
}

// DefaultLimits returns the limits of the published format, if it names one, and otherwise limits that let an agent work for an afternoon but not
// for a night.
func DefaultLimits() Limits {
	return Limits{ReviewRounds: 3, CIFailures: 3, SetUpRepairs: 3, Autofix: 3, ContractRetries: 2, AgentRetries: 2,
		ActionRetries: 4, BaseConflicts: 1, MaxDiffLines: 2000, AgentIdleSec: 600, AgentTotalSec: 7200, TestTotalSec: 1800,
		SetUpTotalSec: 1800, ChecksTotalSec: 5400, AnswerWithinSec: DefaultAnswerWithinSec}
}

// Used counts what was spent of Limits. When a person resumes or retries, all of them start again; most also start again with each phase. The Counters
// of the document go on growing.
type Used struct {
	ReviewRounds    int   `json:"review_rounds"`
	ForgeRounds     int   `json:"forge_rounds,omitzero"` // of objections on the forge, up to Limits.ReviewRounds too
	CIFailures      int   `json:"ci_failures"`
	SetUpRepairs    int   `json:"set_up_repairs"`
	NetworkWaits    int   `json:"network_waits"`
	ServerWaits     int   `json:"server_waits"`
	LockWaits       int   `json:"lock_waits"`
	Autofix         int   `json:"autofix"` // per step or fix
	TestRetries     int   `json:"test_retries,omitzero"`
	ContractRetries int   `json:"contract_retries"`
	AgentRetries    int   `json:"agent_retries"`
	ActionRetries   int   `json:"action_retries"`
	BaseConflicts   int   `json:"base_conflicts"`
	ModelWaits      int   `json:"model_waits"`
	Parks           int   `json:"parks"` // the waits for a provider's limit; each may be longer
	Tokens          int64 `json:"tokens"`
	CostMicroUSD    int64 `json:"cost_micro_usd"`
	Calls           int   `json:"calls"`
	// ChecksSince is when the checks of the present candidate were first seen pending; nil if they weren't.
	ChecksSince *time.Time `json:"checks_since,omitempty"`
	Unknown     Unknown    `json:",embed"`
}

// SetUpWaits grants the waits of a setup command again, to the next one.
func (u *Used) SetUpWaits() { u.NetworkWaits, u.ServerWaits, u.LockWaits = 0, 0, 0 }

// Approval is a person's consent to one exact commit.
type Approval struct {
	Commit string    `json:"commit"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	// SetUp is the SetUp.Content that the question showed; empty if it showed none.
	SetUp string `json:"set_up,omitempty"`
	// OnForge: it was found on the forge, and counts as long as it is found there.
	OnForge bool    `json:"on_forge,omitzero"`
	Unknown Unknown `json:",embed"`
}

// Rejection is a person's answer that a change must not be merged as it is.
type Rejection struct {
	// Commit is the change that was sent back. It follows Details.Head through a merge of the base without conflicts, which leaves the change the same.
	Commit string `json:"commit"`
	Reason string `json:"reason"`
	// Earlier are the reasons of the rejections before it.
	Earlier []string  `json:"earlier,omitempty"`
	By      string    `json:"by,omitempty"`
	At      time.Time `json:"at"`
	Unknown Unknown   `json:",embed"`
}

// String says who sent the change back, in their words: `ada sent it back: "keep the old words"`.
func (r *Rejection) String() string {
	return cmp.Or(r.By, "a person") + ` sent it back: "` + wording.OneLine(r.Reason) + `"`
}

// Finding returns what the implementer is told.
func (r *Rejection) Finding() Finding { return Finding{Source: FoundByPerson, Text: r.Reason} }

// SentBack reports whether the change is still the one that a person sent back.
func (j *Details) SentBack() bool { return j.Rejection != nil && j.Rejection.Commit == j.Head }

// Sources of a Finding.
const (
	FoundByReview = "review" // the reviewer
	FoundByCI     = "ci"     // the checks of the merge candidate
	FoundByStress = "stress" // the stress test
	FoundByTests  = "tests"  // the project's tests, on a person's commits
	FoundByPerson = "person" // the person who sent the change back
	FoundOnForge  = "forge"  // someone who judges the pull request on the forge
	FoundBySync   = "sync"   // conflicts with the base branch
)

// Finding is one thing a review, a check or a person found wrong.
type Finding struct {
	// Source is one of FoundBy….
	Source  string  `json:"source"`
	File    string  `json:"file,omitempty"`
	Line    int     `json:"line,omitempty"`
	Text    string  `json:"text"`
	Unknown Unknown `json:",embed"`
}

// Line1 returns the finding on one line: where, then what.
func (f Finding) Line1() string {
	text := wording.Printable(strings.ReplaceAll(f.Text, "\n", " "))
	if f.File != "" {
		text = wording.Printable(f.File) + ": " + text
	}
	return text
}

// Objection is what someone on the forge finds wrong with the change.
type Objection struct {
	// ID is unique among those to the pull request. Thread is where it is answered; empty for a review.
	ID     string `json:"id"`
	Thread string `json:"thread,omitempty"`
	// Finding says it to the implementer. It is empty once the objection is answered.
	Finding Finding `json:"finding,omitzero"`
	Unknown Unknown `json:",embed"`
}

// AwaitsForge reports whether only an approval of the head on the forge is missing: its tests have passed.
func (j *Details) AwaitsForge() bool {
	return j.ChecksPassed() && j.Settings.ApproveOnForge && !j.ApprovedHere() && j.MergeCommit == ""
}

// ChecksPassed reports whether a merge candidate of the head passed the checks, though the base may have moved since.
func (j *Details) ChecksPassed() bool {
	return j.PullRequest != nil && j.PullRequest.Checked != nil && j.PullRequest.Checked.Head == j.Head
}

// Approved reports whether a person approved the head, and ApprovedHere whether by an order.
func (j *Details) Approved() bool     { return j.Approval != nil && j.Approval.Commit == j.Head }
func (j *Details) ApprovedHere() bool { return j.Approved() && !j.Approval.OnForge }

// PullRequest is the change as it is offered on the forge.
type PullRequest struct {
	Number int    `json:"number"`
	URL    string `json:"url,omitempty"`
	// Head is the full id of the commit that was offered.
	Head string `json:"head"`
	// Checked is the merge candidate that passed the checks; null until one did. Nothing else is ever merged.
	Checked *Candidate `json:"checked"`
	// Awaits is what the last look at the forge found missing. Run.Awaits says whether that still counts.
	Awaits *Await `json:"awaits,omitempty"`
	// Rerun is what ran again on Head after it failed; null if nothing failed there. It happens once, because a real failure fails again.
	Rerun   *Rerun  `json:"rerun,omitempty"`
	Unknown Unknown `json:",embed"`
}

// Await is a wait for something on the forge.
type Await = await.Await

// AwaitKind is what ends one.
type AwaitKind = await.Kind

// Rerun is one time that the forge ran the failed jobs of a commit again.
type Rerun struct {
	// Jobs are their names, until they passed and are in the evidence; empty if the forge could run none again.
	Jobs    []string `json:"jobs"`
	Unknown Unknown  `json:",embed"`
}

// Candidate is the exact content that a merge would put on the base branch.
type Candidate struct {
	Base    string  `json:"base"` // full id of the base branch's commit
	Head    string  `json:"head"` // full id of the change's last commit
	Tree    string  `json:"tree"` // full id of the merged tree
	Unknown Unknown `json:",embed"`
}

// Evidence is a test that Signalbox itself ran on a commit that it recorded itself, or a check of the forge that failed on such a commit. Only evidence
// moves a run: an agent's word that the tests pass counts for nothing.
type Evidence struct {
	Purpose    string `json:"purpose"` // the TestPurpose, as a word
	Commit     string `json:"commit"`
	Tree       string `json:"tree,omitempty"`
	Command    string `json:"command"`
	Check      string `json:"check,omitempty"` // the checks of the forge that failed; then there is no command
	Passed     bool   `json:"passed"`
	DurationMS int64  `json:"duration_ms"`
	LogPath    string `json:"log_path,omitempty"`
	// Known are the failing tests that failed before the change too, if no other test failed.
	Known   []string  `json:"known_failures,omitempty"`
	At      time.Time `json:"at"`
	Unknown Unknown   `json:",embed"`
}
