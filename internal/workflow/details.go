package workflow

import (
	"cmp"
	"time"

	"signalbox/internal/workflow/wording"
)

// Details is what Signalbox knows of a run beyond the published format (the key
// "signalbox" of stage.json): its exact position, the orders not yet carried
// out, the budgets used, and the facts gathered on the way.
type Details struct {
	// Number is the request's number, the n of branch names, environments and status files.
	Number int `json:"number"`
	// Transition counts saved transitions from 1; events.jsonl carries the same number.
	Transition int `json:"transition"`
	// Epoch is the fencing token of the lock under which the run was last saved. A save under
	// a smaller one is refused.
	Epoch int64 `json:"epoch"`
	// Preparing: the run was admitted only to make its environment for a session. Nothing is asked of its
	// dependencies or agents, and the session says how far the request is.
	Preparing bool `json:"preparing,omitzero"`
	// Presence is what the engine of this epoch knows of the environment.
	Presence Presence `json:"presence,omitzero"`

	Phase    Phase    `json:"phase"`
	StepName StepName `json:"step"`
	// SettingUp: within design-check, the environment is being set up (progress environment_setup).
	SettingUp bool          `json:"setting_up"`
	Phases    []PhaseRecord `json:"phases"`
	// Pending are the orders given and not yet answered, in the order in which to perform them.
	// They were saved before the first of them was performed, so a restart performs them again.
	Pending []Action `json:"pending"`
	// Orders counts the actions ever ordered; every Key carries one of these numbers.
	Orders int `json:"orders"`

	Settings Settings `json:"settings"`
	Used     Used     `json:"used"`
	// Program implements the request in the place of the configuration's agents, because a person
	// named it when they let the run begin or go on; empty if no one did.
	Program string `json:"program,omitempty"`

	// Branch is signalbox/<n>-<slug>; Base the branch to merge into. The commits are full object
	// ids: where the branch began, the last one recorded, and (empty until then) the approved one.
	Branch     string    `json:"branch"`
	Base       string    `json:"base"`
	BaseCommit string    `json:"base_commit"`
	Head       string    `json:"head"`
	Approval   *Approval `json:"approval"`
	// Rejection is the last one; nil once a person approved the change after it.
	Rejection *Rejection `json:"rejection,omitempty"`
	// BranchAt is the commit from which the branch may be moved to Head without losing anything: where we
	// put it last, or what is kept by now of what a person put there. Moves tells of the latter.
	BranchAt string       `json:"branch_at,omitempty"`
	Moves    []BranchMove `json:"branch_moves,omitempty"`

	// Upon is the commit on which a session works where that is not Head: Head with the work, not merged
	// yet, of what the request depends on. No part of it is ever the run's own; empty once the run goes on.
	SessionBase string `json:"upon,omitempty"`

	EnvID string `json:"env_id"`
	// Area is the top folder that most files of the change are in; empty for the root, and before there is a change.
	Area string `json:"area,omitempty"`
	// EnvPath is relative to the project root.
	EnvPath string `json:"env_path"`
	// Isolation says what stands between the agent and the host: "bubblewrap" or IsolationNone.
	Isolation   string    `json:"isolation"`
	Fingerprint string    `json:"fingerprint"`
	EnvCreated  time.Time `json:"env_created_at,omitzero"`
	EnvRemoved  bool      `json:"env_removed"`

	// Detection is what was found in the project's files at BaseCommit.
	Detection *Detection `json:"detection,omitempty"`
	// Plan is the accepted plan until planning.json is written; the file has it from then on.
	Plan *Plan `json:"plan,omitempty"`
	// Calling is the call in hand as far as it has come. Conversations are what each role's next
	// call goes on with, Spent what all calls used that ended.
	Calling       *Call                 `json:"calling,omitempty"`
	Conversations map[Role]Conversation `json:"conversations,omitempty"`
	Spent         Usage                 `json:"spent"`
	// Assistants are the agents that took part, by role, program and model, in the order of their first calls.
	Assistants []Assistant `json:"assistants,omitempty"`
	// RepairCalls counts the calls of the repairer.
	RepairCalls int `json:"repair_calls,omitempty"`
	// Days is what was used on each day (UTC), oldest first.
	Days []Day `json:"days,omitempty"`
	// Question is what the call in hand asks and waits with, Questions how many were ever put to people.
	// Answer is the last that was taken, Allowed the patterns that people added by answering, by role.
	Question  *Question         `json:"question,omitempty"`
	Questions int               `json:"questions,omitempty"`
	Answer    *Answer           `json:"answer,omitempty"`
	Allowed   map[Role][]string `json:"allowed,omitempty"`
	// Denied are the tools that the last call was not allowed to use.
	Denied []string `json:"denied,omitempty"`
	// ParkedUntil: the run is QUEUED until then because the model is not to be had before.
	ParkedUntil *time.Time `json:"parked_until,omitempty"`
	// StepBase is the commit on which the change in hand is recorded; one commit per step,
	// whatever the number of attempts.
	StepBase string `json:"step_base"`
	// Fixes counts the changes made in review-fix; they are called R01, R02, …
	// FixAttempt counts the calls for the present one from 1.
	Fixes      int    `json:"mends"`
	FixAttempt int    `json:"mend_attempt"`
	SetUp      *SetUp `json:"set_up"`
	// Tested is the result of the tests at BaseCommit; nil until they ran there.
	Tested *BaseCheck `json:"base_check,omitempty"`
	// Warm: the environment started from a cached one.
	Warm bool `json:"warm,omitzero"`
	// FromBase: the run continues from its base branch as it is at that moment.
	FromBase bool      `json:"from_base,omitzero"`
	Findings []Finding `json:"findings"`
	// Conflicts are the files whose conflict markers the agent has to resolve.
	Conflicts []string `json:"conflicts,omitempty"`
	Blocked   *Blocked `json:"blocked"`
	// Flags are the reasons why a person must approve the change, with automatic approval too.
	Flags []string `json:"flags"`
	// Failure is the tail of what went wrong last, for the next prompt and for people.
	Failure string `json:"failure,omitempty"`

	PullRequest *PullRequest `json:"pull_request"`
	Evidence    []Evidence   `json:"evidence"`
	MergeCommit string       `json:"merge_commit,omitempty"`
	// Aside are the refs, oldest first, of unrecorded work that was in the environment when the run continued
	// there: a session's, a person's, or an interrupted attempt's. It isn't part of the change.
	SavedWork []string `json:"aside,omitempty"`
	// KeptRef holds the work of a removed branch.
	KeptRef string `json:"kept_ref,omitempty"`
	// Canceling: a person gave the run up, and its branch and environment are being removed.
	Canceling bool `json:"canceling"`

	Unknown Unknown `json:",embed"`
}

// IsolationNone: commands run on the host as the person who started the run.
const IsolationNone = "none"

// PhaseRecord is the result of one phase; a skipped one says why.
type PhaseRecord struct {
	Phase     Phase      `json:"phase"`
	Step      StepName   `json:"step"`
	Status    StepStatus `json:"status"`
	StartedAt *time.Time `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at"`
	Note      string     `json:"note,omitempty"`
	Unknown   Unknown    `json:",embed"`
}

// Settings are the configuration a run started with. They are frozen, so that
// a change of the file in mid-run does not move the goal.
type Settings struct {
	// Workflow is "full", "simple" or "custom"; Phases are the optional ones that it includes.
	Workflow string     `json:"workflow"`
	Phases   []StepName `json:"phases"`
	// AutoApprove passes approval-wait unless a flag asks for a person.
	AutoApprove bool `json:"auto_approve"`
	// Tests are the project's test commands, each one line for sh; empty means none are known.
	Tests []string `json:"tests"`
	// TestsE2E are its end-to-end tests, lines for sh too. They run after Tests, where a change has to pass.
	TestsE2E []string `json:"tests_e2e,omitempty"`
	// PushesTo names the remote that branches and merges are pushed to; empty when there is none.
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
	// EnvironmentName, SetUp and Verification are the project's own word on its environment;
	// where they are empty the plan's counts, and then what was detected.
	EnvironmentName string         `json:"environment_name,omitempty"`
	SetUp           []string       `json:"setup_commands,omitempty"`
	Verification    []Verification `json:"verification,omitempty"`
	// NoSetUp: the project says that nothing is to be set up, whatever its files or a plan ask for.
	NoSetUp bool `json:"no_set_up,omitzero"`
	// Environments are the names that a planner may choose from; Image is the container image of
	// all, Images of those that have one of their own.
	Environments []string          `json:"environments,omitempty"`
	Image        string            `json:"image,omitempty"`
	Images       map[string]string `json:"images,omitempty"`
	// StopOnSetUpFailure: a failed set-up stops the run instead of going on with a warning.
	StopOnSetUpFailure bool    `json:"stop_on_set_up_failure"`
	Limits             Limits  `json:"limits"`
	Unknown            Unknown `json:",embed"`
}

// Limits are the budgets of a run. Durations are seconds in the document.
type Limits struct {
	// ReviewRounds is how many reviews may fail before a person is asked (E5: 3).
	ReviewRounds int `json:"review_rounds"`
	// CIFailures is how many checks in a row may fail (E5: 3).
	CIFailures int `json:"ci_failures"`
	// SetUpRepairs is how often the model may correct the setup, verification included (P6: 3).
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
	// ActionRetries is how often an action is repeated after a passing failure of git or the forge.
	ActionRetries int `json:"action_retries"`
	// BaseConflicts is how often the steps are repeated, without
	// asking a person, on a base branch that moved.
	BaseConflicts int `json:"base_conflicts"`
	// MaxDiffLines is the size above which a step's diff is too_large and needs a person (R10).
	MaxDiffLines int `json:"max_diff_lines"`

	AgentIdleSec  int `json:"agent_idle_sec"`
	AgentTotalSec int `json:"agent_total_sec"`
	// AnswerWithinSec is how long an agent's question waits until it counts as denied; 0 is half an hour.
	AnswerWithinSec int `json:"answer_within_sec,omitempty"`
	TestTotalSec    int `json:"test_total_sec"`
	SetUpTotalSec   int `json:"set_up_total_sec"`
	// ChecksTotalSec is how long the forge's checks may stay silent before a person is asked.
	ChecksTotalSec int     `json:"checks_total_sec"`
	Unknown        Unknown `json:",embed"`
}

// DefaultLimits are the limits of the specification where it names one, and
// otherwise what lets an agent work for an afternoon but not for a night.
func DefaultLimits() Limits {
	return Limits{ReviewRounds: 3, CIFailures: 3, SetUpRepairs: 3, Autofix: 3, ContractRetries: 2, AgentRetries: 2,
		ActionRetries: 4, BaseConflicts: 1, MaxDiffLines: 2000, AgentIdleSec: 600, AgentTotalSec: 7200, TestTotalSec: 1800,
		SetUpTotalSec: 1800, ChecksTotalSec: 5400, AnswerWithinSec: DefaultAnswerWithinSec}
}

// Used counts what was spent of Limits. A person who resumes or retries grants
// the budgets anew; the Counters of the document go on growing.
type Used struct {
	ReviewRounds    int     `json:"review_rounds"`
	CIFailures      int     `json:"ci_failures"`
	SetUpRepairs    int     `json:"set_up_repairs"`
	NetworkWaits    int     `json:"network_waits"`
	ServerWaits     int     `json:"server_waits"`
	LockWaits       int     `json:"lock_waits"`
	Autofix         int     `json:"autofix"`
	TestRetries     int     `json:"test_retries,omitzero"`
	ContractRetries int     `json:"contract_retries"`
	AgentRetries    int     `json:"agent_retries"`
	ActionRetries   int     `json:"action_retries"`
	BaseConflicts   int     `json:"base_conflicts"`
	ModelWaits      int     `json:"model_waits"`
	Parks           int     `json:"parks"`
	Tokens          int64   `json:"tokens"`
	CostMicroUSD    int64   `json:"cost_micro_usd"`
	Calls           int     `json:"calls"`
	Unknown         Unknown `json:",embed"`
}

// ForPhase grants the budgets that hold for one phase anew.
func (u *Used) ForPhase() {
	u.Autofix, u.ContractRetries, u.AgentRetries, u.ActionRetries, u.TestRetries = 0, 0, 0, 0, 0
	u.SetUpRepairs = 0
	u.SetUpWaits()
	u.ModelWaits, u.Parks = 0, 0
}

// SetUpWaits grants the waits anew, to another command.
func (u *Used) SetUpWaits() { u.NetworkWaits, u.ServerWaits, u.LockWaits = 0, 0, 0 }

// Approval is a person's consent to one exact commit.
type Approval struct {
	Commit string    `json:"commit"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	// SetUp is the SetUp.Content that the question showed; empty where none was asked about.
	SetUp   string  `json:"set_up,omitempty"`
	Unknown Unknown `json:",embed"`
}

// Rejection is a person's answer that a change must not be merged as it is.
type Rejection struct {
	// Commit is the change that was sent back. It follows Details.Head through a merge of the base without conflicts, which leaves the change the same.
	Commit  string    `json:"commit"`
	Reason  string    `json:"reason"`
	By      string    `json:"by,omitempty"`
	At      time.Time `json:"at"`
	Unknown Unknown   `json:",embed"`
}

// String says who sent the change back, in their words: `ada sent it back: "keep the old words"`.
func (r *Rejection) String() string {
	return cmp.Or(r.By, "a person") + ` sent it back: "` + wording.Printable(r.Reason) + `"`
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
	FoundByTests  = "tests"  // the project's tests, of commits by a person
	FoundByPerson = "person" // who sent the change back
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

// Line1 is the finding as one line: where, then what.
func (f Finding) Line1() string {
	text := wording.Printable(f.Text)
	if f.File != "" {
		text = wording.Printable(f.File) + ": " + text
	}
	return text
}

// PullRequest is the change as offered on the forge.
type PullRequest struct {
	Number int    `json:"number"`
	URL    string `json:"url,omitempty"`
	Head   string `json:"head"`
	// Checked is the merge candidate that the checks passed on; nil until they did.
	Checked *Candidate `json:"checked"`
	Unknown Unknown    `json:",embed"`
}

// Candidate is the exact content that a merge would put on the base branch.
type Candidate struct {
	Base    string  `json:"base"` // full id of the base branch's commit
	Head    string  `json:"head"` // full id of the change's last commit
	Tree    string  `json:"tree"` // full id of the merged tree
	Unknown Unknown `json:",embed"`
}

// Evidence is a test that Signalbox itself ran on a commit that it recorded
// itself (DESIGN decision 3).
type Evidence struct {
	Purpose    string `json:"purpose"` // the TestPurpose, as a word
	Commit     string `json:"commit"`
	Tree       string `json:"tree,omitempty"`
	Command    string `json:"command"`
	Passed     bool   `json:"passed"`
	DurationMS int64  `json:"duration_ms"`
	LogPath    string `json:"log_path,omitempty"`
	// Known are the failing tests that failed before the change as well, where nothing else did.
	Known   []string  `json:"known_failures,omitempty"`
	At      time.Time `json:"at"`
	Unknown Unknown   `json:",embed"`
}
