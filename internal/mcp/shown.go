package mcp

import (
	"time"

	"signalbox/internal/access"
	"signalbox/internal/app"
	"signalbox/internal/commandline"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// shown is a run as tools show it; the whole document is a resource.
type shown struct {
	Number    int            `json:"number"`
	RequestID string         `json:"request_id"`
	RunID     string         `json:"run_id"`
	Title     string         `json:"title"`
	State     workflow.State `json:"state"`
	Phase     string         `json:"phase"`
	Percent   int            `json:"percent"`
	Doing     string         `json:"doing"`
	// Transition counts the run's changes.
	Transition int       `json:"transition"`
	UpdatedAt  time.Time `json:"updated_at"`
	// Interrupted: it should move, but no process runs it.
	Interrupted bool                  `json:"interrupted"`
	Stopped     *stopped              `json:"stopped,omitempty"`
	Question    *workflow.Question    `json:"question,omitempty"`
	Approve     string                `json:"approve,omitempty"` // the commit that a person decides on
	Flags       []string              `json:"flags,omitempty"`
	Branch      string                `json:"branch,omitempty"`
	Base        string                `json:"base,omitempty"`
	Head        string                `json:"head,omitempty"`
	PullRequest string                `json:"pull_request,omitempty"`
	Steps       []workflow.Step       `json:"steps,omitempty"`
	Evidence    []workflow.Evidence   `json:"evidence,omitempty"`
	Used        string                `json:"used,omitempty"`
	Resource    string                `json:"resource"`
	Next        []step                `json:"next,omitempty"`
	Issue       *registry.IssueStatus `json:"issue,omitempty"` // instead of the rest, if another program wrote it
}

type stopped struct {
	ReasonCode string `json:"reason_code"`
	Title      string `json:"title"`
	Message    string `json:"message"`
}

// shownEvidence is how many of the last tests a run shows.
const shownEvidence = 10

func (s *server) shown(at *app.Standing) shown {
	if at.Issue != nil {
		return shown{Number: at.Issue.Issue, Issue: at.Issue}
	}
	r := &at.Run
	j := &r.Details
	v := shown{Number: j.Number, RequestID: r.RequestID, RunID: r.RunID, Title: r.Title, State: r.State, Phase: string(j.Phase.Step()), Percent: r.Progress.Percent,
		Doing: commandline.Doing(r), Transition: j.Transition, UpdatedAt: r.UpdatedAt, Interrupted: at.Interrupted, Question: j.Question, Flags: j.Flags,
		Branch: j.Branch, Base: j.Base, Head: j.Head, Steps: r.Steps, Evidence: j.Evidence[max(0, len(j.Evidence)-shownEvidence):],
		Used: r.SpentSoFar().String(), Resource: uriOf(j.Number, "stage.json"), Next: s.next(at)}
	if e := r.Error; e != nil {
		v.Stopped = &stopped{e.ReasonCode, e.Title, e.Message}
	}
	if r.AsksForApproval() {
		v.Approve = j.Head
	}
	if j.PullRequest != nil {
		v.PullRequest = j.PullRequest.URL
	}
	return v
}

// step is something that can be done next: by a tool, or by a person who types the command or does what the text says.
type step struct {
	Text      string         `json:"text,omitempty"`
	Tool      string         `json:"tool,omitempty"`
	Arguments map[string]any `json:"arguments,omitempty"`
	Person    string         `json:"person,omitempty"`
	Then      []step         `json:"then,omitempty"`
}

// tools are the verbs that are tools.
var tools = map[workflow.Verb]string{workflow.VerbRun: "start_run", workflow.VerbResume: "resume", workflow.VerbRetry: "retry", workflow.VerbStop: "stop",
	workflow.VerbReject: "reject", workflow.VerbDiff: "get_diff", workflow.VerbStatus: "get_run", workflow.VerbLogs: "get_log", workflow.VerbList: "list_runs",
	workflow.VerbApprove: "approve"}

// roleFor is the role that the tool of a verb needs.
func roleFor(v workflow.Verb) access.Role {
	switch v {
	case workflow.VerbApprove:
		return access.Approver
	case workflow.VerbDiff, workflow.VerbStatus, workflow.VerbLogs, workflow.VerbList:
		return access.Viewer
	}
	return access.Operator
}

// next returns what can be done about a run. What loses work or protection is for a person.
func (s *server) next(at *app.Standing) (steps []step) {
	r := &at.Run
	if r.Error == nil && !at.Interrupted && r.Details.Question != nil && s.may(access.Operator) {
		return []step{{Text: "answer the question", Tool: "answer", Arguments: map[string]any{"run": r.Ref(), "question": r.Details.Question.ID}}}
	}
	for _, n := range app.NextSteps(r, at.Interrupted) {
		steps = append(steps, s.step(r, n))
	}
	return steps
}

func (s *server) step(r *workflow.Run, n workflow.NextStep) step {
	v := step{Text: n.Text}
	for _, then := range n.Then {
		v.Then = append(v.Then, s.step(r, then))
	}
	tool, is := tools[n.Verb]
	if !is || n.Force || n.Unsandboxed || n.Cancel || !s.may(roleFor(n.Verb)) {
		n.Text, n.Then = "", nil
		v.Person = commandline.Line(n)
		return v
	}
	v.Tool = tool
	if len(n.Runs) > 0 {
		v.Arguments = map[string]any{"run": n.Runs[0]}
	}
	switch n.Verb {
	case workflow.VerbReject:
		v.Arguments["reason"] = "<" + n.Blank + ">"
	case workflow.VerbApprove:
		v.Arguments["commit"] = r.Details.Head
	}
	return v
}
