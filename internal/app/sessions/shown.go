package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/app"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/session"
	"signalbox/internal/session/terminal"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Shown is a session as programs see it.
type Shown struct {
	Issue   int                      `json:"issue"`
	Status  registry.IssueStatusWord `json:"status"`
	Message string                   `json:"message"`
	Name    string                   `json:"session"`
	Agent   string                   `json:"agent"`
	Mode    session.Mode             `json:"mode"`
	// Source is how Status became known: report, marker, end, stop or gone; empty while it runs.
	Source   session.Source `json:"source"`
	Progress string         `json:"progress"`
	// Question is the one that its agent waits for; null if there is none.
	Question  *workflow.Question `json:"question"`
	HostPID   int                `json:"host_pid"`
	StartedAt time.Time          `json:"started_at"`
	EndedAt   *time.Time         `json:"ended_at"`
	ExitCode  *int               `json:"exit_code"`
	Notes     []string           `json:"notes"`
}

// Show returns a session as programs see it.
func Show(i *session.Info) Shown {
	s := Shown{Issue: i.Issue, Status: app.SessionState(i), Name: i.Name, Agent: i.Agent, Mode: i.Mode, Progress: i.Progress, Question: app.AskedBy(i),
		HostPID: i.HostPID, StartedAt: i.StartedAt, EndedAt: i.EndedAt, ExitCode: i.ExitCode, Notes: i.Notes}
	if i.Outcome != nil {
		s.Message, s.Source = i.Outcome.Message, i.Outcome.Source
	}
	return s
}

// Says is what there is to say of a session, on one line.
func Says(i *session.Info) string {
	asked := app.AskedBy(i)
	switch {
	case asked != nil:
		return fmt.Sprintf("waits for an answer (signalbox answer %d): %s", i.Issue, redact.Line(asked.Line1(), 120))
	case i.Outcome == nil:
		return redact.Line(i.Progress, 200)
	case i.EndedAt == nil:
		return strings.TrimPrefix(redact.Line(i.Outcome.Message, 200)+"; its agent is still there", "; ")
	}
	return redact.Line(i.Outcome.Message, 200)
}

// EndOf is how a session ended, or how far it is, for people.
func EndOf(i *session.Info) string {
	return strings.TrimSuffix(fmt.Sprintf("%s: %s", app.SessionState(i), Says(i)), ": ")
}

// NextOf says what there is to do after a session has an outcome; it is empty before.
func NextOf(i *session.Info) string {
	if i.Outcome == nil {
		return ""
	}
	next := []string{fmt.Sprintf("see it: signalbox session logs %d", i.Issue)}
	if i.EndedAt == nil {
		next = append(next, fmt.Sprintf("end its agent: signalbox session stop %d", i.Issue))
	}
	start := fmt.Sprintf("signalbox session start %d", i.Issue)
	switch said := i.Outcome.Message; {
	case i.Outcome.Kind == terminal.Complete && i.EndedAt != nil:
		next = append(next, fmt.Sprintf("what it changed: signalbox env exec %d -- sh -c 'git add -N . && git diff'\n"+
			"put that on a ref, from which git merges it: signalbox session cleanup %[1]d", i.Issue))
	case i.Outcome.Kind == terminal.Complete:
	case strings.Contains(said, app.ErrSpent.Error()) && !strings.Contains(said, "limits.per_day"):
		next = append(next, "begin again with as much granted anew: "+start+" --grant")
	case strings.Contains(said, string(agent.Unauthorized)):
		next = append(next, "see what is missing: signalbox doctor", "begin again in the same files: "+start)
	default:
		if i.Outcome.Source == session.Ended && i.ExitCode != nil && *i.ExitCode == 0 {
			next = append(next, fmt.Sprintf("if its work is done, put it on a ref: signalbox session cleanup %d", i.Issue))
		}
		next = append(next, "begin again in the same files: "+start)
	}
	return strings.Join(next, "; ")
}

// Failed is the exit code of a session whose outcome is an error; nil for any other.
func Failed(i *session.Info) error {
	if i.Outcome != nil && i.Outcome.Kind == terminal.Error {
		return &problem.Error{Code: problem.Failed}
	}
	return nil
}

// Refused adds the next command to an error of a session that refuses something.
func Refused(err error, issue int) error {
	for _, known := range []struct {
		is   error
		hint string
		code int
	}{
		{session.ErrNoTerminal, "follow it: signalbox session watch %d", problem.General},
		{session.ErrNotRunning, "see what it came to: signalbox session logs %d", problem.General},
		{session.ErrBusy, "look at it: signalbox session attach %d", problem.General},
		{session.ErrText, "type such yourself: signalbox session attach %d", problem.Usage},
	} {
		if errors.Is(err, known.is) {
			return &problem.Error{Err: err, Hint: fmt.Sprintf(known.hint, issue), Code: known.code}
		}
	}
	return wire.Explained(err)
}

// Chosen is a session that was named, or that hasn't ended.
type Chosen struct {
	*session.Session
	Info session.Info
}

// Choose opens the sessions of the issues named, or all that haven't ended.
func Choose(ctx context.Context, all *session.Sessions, refs []string) (chosen []Chosen, err error) {
	if len(refs) == 0 {
		live, err := app.LiveSessions(ctx, all)
		if err != nil {
			return nil, err
		}
		for _, info := range live {
			refs = append(refs, info.Name)
		}
	}
	for _, ref := range refs {
		x, info, err := app.OpenSession(ctx, all, ref)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, Chosen{x, info})
	}
	return chosen, nil
}
