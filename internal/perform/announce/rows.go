package announce

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"signalbox/internal/language"
	"signalbox/internal/workflow"
)

// row is one line of facts.
type row struct {
	title language.Key
	value string
}

func (a *Run) rows(r *workflow.Run) []row {
	j := &r.Details
	rows := []row{{language.RowCommit, a.commit(r)}, {language.RowTests, a.Language.Say(language.NoTest)}, {language.RowChange, a.change(r)}, {language.RowCost, a.cost(r)},
		{language.RowSetup, a.setup(r)}, {language.RowDeadline, a.deadline(r)}, {language.RowRun, a.code(r.RunID, maxLine)}}
	if n := len(j.Evidence); n > 0 {
		rows[1].value = a.tested(j.Evidence[n-1])
	}
	if pr := j.PullRequest; pr != nil {
		rows = append(rows, row{language.RowPullRequest, cmp.Or(link(pr.URL), fmt.Sprint(pr.Number))})
	}
	return rows
}

// link is an address that the forge gave; empty if it is none, or could be more than that.
func link(address string) string {
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") || strings.ContainsAny(address, " \t\n\r<>|`()[]\"'\\") {
		return ""
	}
	return address
}

func (a *Run) commit(r *workflow.Run) string {
	j := &r.Details
	if j.Branch == "" {
		return ""
	}
	if j.MergeCommit != "" {
		return a.Language.Say(language.OnBranch, a.short(j.MergeCommit), a.code(j.Base, maxLine))
	}
	return a.Language.Say(language.OnBranch, a.short(cmp.Or(j.Head, j.BaseCommit)), a.code(j.Branch, maxLine))
}

func (a *Run) tested(e workflow.Evidence) string {
	key := language.TestFailed
	switch {
	case len(e.Known) > 0:
		key = language.TestKnown
	case e.Passed:
		key = language.TestPassed
	}
	what := fmt.Sprint(e.Purpose, ", ", time.Duration(e.DurationMS)*time.Millisecond)
	if e.Check != "" {
		what = e.Purpose + ", " + a.code(e.Check, maxNote)
	}
	return a.Language.Say(key, a.short(e.Commit), what)
}

// change is the size of what the steps recorded.
func (a *Run) change(r *workflow.Run) string {
	added, deleted, recorded := 0, 0, 0
	for _, s := range r.Steps {
		added, deleted = added+s.DiffStat.LinesAdded, deleted+s.DiffStat.LinesDeleted
		if s.PatchPath != nil {
			recorded++
		}
	}
	if recorded == 0 {
		return ""
	}
	return a.Language.Say(language.ChangeOf, added, deleted, recorded, len(r.Steps))
}

func (a *Run) cost(r *workflow.Run) string {
	used := r.SpentSoFar()
	if used.Tokens() == 0 {
		return used.String()
	}
	said := a.Language.Say(language.TokensUsed, used.Tokens())
	if _, money, priced := strings.Cut(used.String(), ", "); priced {
		said += ", " + money
	}
	return said
}

func (a *Run) setup(r *workflow.Run) string {
	j := &r.Details
	if j.EnvID == "" {
		return ""
	}
	said := a.code(j.Isolation, maxLine)
	if s := j.SetUp; s != nil {
		key := language.SetupReady
		switch {
		case s.Failure() != "":
			key = language.SetupFailed
		case j.SettingUp:
			key = language.SetupRunning
		case s.Warm:
			key = language.SetupWarm
		}
		said = a.Language.Say(key, a.code(s.Name, maxLine))
	}
	if j.Isolation == workflow.IsolationNone {
		said = a.Language.Say(language.NotIsolated, said)
	}
	return said
}

// deadline is what happens next by itself.
func (a *Run) deadline(r *workflow.Run) string {
	j := &r.Details
	switch {
	case j.Question != nil:
		return a.Language.Say(language.DeadlineAnswer, at(j.Question.Until))
	case r.Awaits().People():
		return ""
	case j.ParkedUntil != nil:
		return a.Language.Say(language.DeadlineParked, at(*j.ParkedUntil))
	case r.State != workflow.Running || len(j.Pending) == 0:
		return ""
	case r.Watches() && j.Used.ChecksSince != nil:
		return a.Language.Say(language.DeadlineChecks, at(j.Used.ChecksSince.Add(time.Duration(j.Settings.Limits.ChecksTotalSec)*time.Second)))
	case j.Pending[0].Kind == workflow.Wait && j.Pending[0].Until != nil:
		return a.Language.Say(language.DeadlineWait, at(*j.Pending[0].Until))
	case j.Pending[0].Kind == workflow.CallAgent:
		return a.Language.Say(language.DeadlineAgent, at(r.UpdatedAt.Add(time.Duration(j.Settings.Limits.AgentTotalSec)*time.Second)))
	}
	return ""
}
