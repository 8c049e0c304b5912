package mcp

import (
	"context"
	"errors"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"signalbox/internal/app/environments"
	"signalbox/internal/problem"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

type envIn struct {
	EnvID string `json:"env_id" jsonschema:"the environment's id"`
}

type registerIn struct {
	envIn
	Issue  int    `json:"issue_number" jsonschema:"the issue that the work is for"`
	Branch string `json:"branch" jsonschema:"the git branch with the work"`
	Title  string `json:"title" jsonschema:"what the work is, in one line"`
	Area   string `json:"area,omitempty" jsonschema:"part of the project, such as backend"`
}

type phaseIn struct {
	envIn
	Step string `json:"step" jsonschema:"the phase's name, such as tdd-green, or its number from 0 to 14"`
}

type pullRequestIn struct {
	envIn
	PullRequest int `json:"pr_number"`
}

type blockIn struct {
	envIn
	Reason      string         `json:"reason" jsonschema:"design_ambiguity, review_loop_exceeded, dependency_missing, external_blocker, resource_limit or ci_persistent_failure"`
	Description string         `json:"description" jsonschema:"what blocks the work"`
	Action      string         `json:"suggested_action,omitempty" jsonschema:"what a person should do"`
	Context     map[string]any `json:"context,omitempty"`
}

type findingIn struct {
	envIn
	Finding string `json:"finding" jsonschema:"the review finding, or how it begins"`
}

type findIn struct {
	EnvID       string `json:"env_id,omitempty"`
	Issue       int    `json:"issue_number,omitempty"`
	PullRequest int    `json:"pr_number,omitempty"`
}

// namedEnv is an argument that names the environment.
type namedEnv interface{ id() string }

func (e envIn) id() string { return e.EnvID }

// addEnvironments adds the operations on environments.json, for agents whose environments other programs make.
func (s *server) addEnvironments() {
	add(s, "list_environments", "List the entries of environments.json, which says how far the work on each issue is and in which environment.", looks,
		func(ctx context.Context, c *call, _ struct{}) (any, error) {
			return environments.Read(ctx, c.Opener)
		})
	add(s, "find_environment", "Find entries by environment, issue or pull request, the one to continue with first.", looks,
		func(ctx context.Context, c *call, in findIn) (any, error) {
			doc, err := environments.Read(ctx, c.Opener)
			found := []registry.Environment{}
			switch e, missing := doc.Find(in.EnvID); {
			case err != nil:
				return nil, err
			case in.EnvID != "" && missing == nil:
				found = append(found, *e)
			case in.EnvID == "" && in.Issue != 0:
				found = append(found, doc.ByIssue(in.Issue)...)
			case in.EnvID == "" && in.PullRequest != 0:
				found = append(found, doc.ByPR(in.PullRequest)...)
			case in.EnvID == "":
				return nil, &problem.Error{Err: errors.New("nothing is named"), Hint: "give env_id, issue_number or pr_number"}
			}
			return found, nil
		})
	add(s, "register_environment", "Record an environment that was just created.", acts,
		func(ctx context.Context, c *call, in registerIn) (any, error) {
			return environments.ChangeForeign(ctx, c.Opener, in.EnvID, func(doc *registry.Environments, now time.Time) error {
				return doc.Register(registry.Environment{EnvID: in.EnvID, IssueNumber: in.Issue, Branch: in.Branch, Title: in.Title, Area: in.Area}, now)
			})
		})
	add(s, "remove_environment", "Remove the entry of an environment that was deleted.", ends,
		func(ctx context.Context, c *call, in envIn) (any, error) {
			return environments.RemoveForeign(ctx, c.Opener, in.EnvID)
		})
	addChange(s, "touch_environment", "Record that an environment was opened.", acts, func(e *registry.Environment, _ envIn, now time.Time) error {
		e.Touch(now)
		return nil
	})
	addChange(s, "update_phase", "Record the phase in which the work in an environment is.", acts, func(e *registry.Environment, in phaseIn, now time.Time) error {
		phase, _, err := registry.ParsePosition(in.Step)
		if err != nil {
			return err
		}
		return e.SetPhase(phase, now)
	})
	addChange(s, "update_environment_pr", "Record the pull request that was opened for an environment.", acts, func(e *registry.Environment, in pullRequestIn, now time.Time) error {
		return e.UpdatePR(in.PullRequest, now)
	})
	addChange(s, "mark_environment_merged", "Record that the change was merged.", ends, func(e *registry.Environment, _ envIn, now time.Time) error {
		e.MarkMerged(now)
		return nil
	})
	addChange(s, "mark_environment_abandoned", "Record that the work was given up.", ends, func(e *registry.Environment, _ envIn, now time.Time) error {
		return e.MarkAbandoned(now)
	})
	addChange(s, "set_blocked", "Record why the work can't continue without a person, and what the person should do.", acts, func(e *registry.Environment, in blockIn, now time.Time) error {
		return e.Block(workflow.Blocked{Reason: workflow.BlockedReason(in.Reason), Description: in.Description, SuggestedAction: in.Action, Context: in.Context}, now)
	})
	addChange(s, "clear_blocked", "Record that nothing blocks the work any more.", acts, func(e *registry.Environment, _ envIn, _ time.Time) error {
		e.Unblock()
		return nil
	})
	addChange(s, "add_pending_issue", "Record a review finding.", acts, func(e *registry.Environment, in findingIn, _ time.Time) error {
		_, err := e.AddFinding(in.Finding)
		return err
	})
	addChange(s, "clear_pending_issues", "Remove all review findings, or the one that is named.", acts, func(e *registry.Environment, in struct {
		envIn
		Finding string `json:"finding,omitempty"`
	}, _ time.Time) error {
		if in.Finding == "" {
			e.ClearFindings()
			return nil
		}
		_, err := e.ResolveFinding(in.Finding)
		return err
	})
}

// addChange adds a tool that changes one entry and answers with it.
func addChange[In namedEnv](s *server, name, description string, kind sdk.ToolAnnotations, change func(*registry.Environment, In, time.Time) error) {
	add(s, name, description, kind, func(ctx context.Context, c *call, in In) (any, error) {
		return environments.ChangeForeign(ctx, c.Opener, in.id(), func(doc *registry.Environments, now time.Time) error {
			e, err := doc.Find(in.id())
			if err != nil {
				return err
			}
			return change(e, in, now)
		})
	})
}
