package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

const sharedEnvironment = "shared"

// mixEnvironments goes through the registry's operations with an entry of its
// own and a finding in the shared entry, in which each update counts itself.
// That an update of its own was lost, a writer finds with its next one.
func mixEnvironments(ctx context.Context, s *Store, writer string) func(n int) error {
	own := ownEnvironment{id: "env-" + writer, left: "nothing"}
	return func(n int) error {
		return s.Environments().Update(ctx, func(doc *registry.Environments) error {
			if err := own.mustBeAsLeft(doc); err != nil {
				return err
			}
			shared, err := doc.Find(sharedEnvironment)
			if err != nil {
				return err
			}
			if err := errors.Join(shared.UpdatePR(*shared.PRNumber+1, testStart), own.operate(doc, n)); err != nil {
				return err
			}
			own.left = own.content(doc)
			return nil
		})
	}
}

// ownEnvironment is an entry that only one writer changes.
type ownEnvironment struct{ id, left string }

func (o *ownEnvironment) content(doc *registry.Environments) string {
	e, err := doc.Find(o.id)
	if err != nil {
		return "nothing"
	}
	var pr int
	if e.PRNumber != nil {
		pr = *e.PRNumber
	}
	var block workflow.Blocked
	if e.Blocked != nil {
		block = *e.Blocked
	}
	return fmt.Sprint(e.Status, e.Step, pr, block.Reason, block.Description, e.PendingIssues)
}

func (o *ownEnvironment) mustBeAsLeft(doc *registry.Environments) error {
	if there := o.content(doc); there != o.left {
		return fmt.Errorf("an update was lost: left %s, found %s", o.left, there)
	}
	return nil
}

// environmentOperations is how many operations there are until an entry is removed and registered again.
const environmentOperations = 11

func (o *ownEnvironment) operate(doc *registry.Environments, n int) error {
	round, operation := n/environmentOperations, n%environmentOperations
	if operation == 0 && round > 0 {
		if err := doc.Remove(o.id); err != nil {
			return err
		}
	}
	if operation == 0 {
		return doc.Register(registry.Environment{EnvID: o.id, IssueNumber: 2, Branch: "b", Title: "t"}, testStart)
	}
	e, err := doc.Find(o.id)
	if err != nil {
		return err
	}
	switch operation {
	case 1:
		return e.SetPhase(workflow.TDDRed, testStart)
	case 2:
		e.Touch(testStart)
	case 3:
		return e.Block(workflow.Blocked{Reason: workflow.ResourceLimit, Description: fmt.Sprint(n)}, testStart)
	case 4, 5, 6:
		return o.note(doc, operation-4, round)
	case 7:
		if !e.Unblock() {
			return errors.New("the block was lost")
		}
	case 8:
		_, err = e.AddFinding(fmt.Sprint(n))
	case 9:
		return e.UpdatePR(n, testStart)
	case 10:
		e.MarkMerged(testStart)
	}
	return err
}

// note keeps one finding of the writer in the shared entry: the newest.
func (o *ownEnvironment) note(doc *registry.Environments, turn, round int) error {
	shared, err := doc.Find(sharedEnvironment)
	if err != nil {
		return err
	}
	finding := func(round int) string { return fmt.Sprintf("%s says %d;", o.id, round) }
	switch {
	case turn == 0:
		_, err = shared.AddFinding(finding(round))
	case turn == 1 && round > 0:
		_, err = shared.ResolveFinding(finding(round - 1))
	}
	return err
}

// mixStatus counts each writer's updates under a key of its own.
func mixStatus(ctx context.Context, s *Store, writer string) func(n int) error {
	words := []registry.IssueStatusWord{registry.IssueRunning, registry.IssueComplete, registry.IssueError}
	return func(n int) error {
		return s.IssueStatus(sweptIssue).Update(ctx, func(status *registry.IssueStatus) error {
			if status.Unknown == nil {
				status.Unknown = workflow.Unknown{}
			}
			if there := string(status.Unknown[writer]); n > 0 && there != strconv.Itoa(n) {
				return fmt.Errorf("an update was lost: found %s of %d", there, n)
			}
			status.Status, status.Session, status.Timestamp = words[n%len(words)], writer, testStart
			status.Unknown[writer] = json.RawMessage(strconv.Itoa(n + 1))
			return nil
		})
	}
}

// mixSignals leaves commands half of the time, and stops and notes, which are counted.
func mixSignals(ctx context.Context, s *Store, writer string) func(n int) error {
	return func(n int) error {
		return s.Signal(ctx, testRef, func(sig *workflow.Signals) error {
			switch n % 4 {
			case 0, 1:
				sig.Commands = append(sig.Commands, workflow.Command{ID: fmt.Sprintf("%s-%d", writer, n), Kind: workflow.CommandRetry, At: testStart})
			case 2:
				sig.StopRequested = true
			case 3:
				notes := 0
				if sig.Notes != nil {
					notes, _ = strconv.Atoi(*sig.Notes)
				}
				text := strconv.Itoa(notes + 1)
				sig.Notes = &text
			}
			return nil
		})
	}
}
