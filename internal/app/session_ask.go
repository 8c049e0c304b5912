package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"signalbox/internal/agent"
	"signalbox/internal/engine"
	"signalbox/internal/perform"
	"signalbox/internal/permission"
	"signalbox/internal/redact"
	"signalbox/internal/session"
	"signalbox/internal/workflow"
)

// sessionAsker answers the questions of a session's agent, in the process that hosts it. The configuration's rules and what a person
// always allowed come first, then a person decides.
type sessionAsker struct {
	rules permission.Rules
	// within is how long a person has to answer.
	within time.Duration
	redact func(string) string
	says   *spoken
	issue  int
	asked  int
}

// ask implements agent.Asker.
func (s *sessionAsker) ask(ctx context.Context, q agent.Question) (agent.Answer, error) {
	what := strings.TrimPrefix(q.Tool+": "+s.redact(q.Text), ": ")
	ruled, ok := perform.Ruled(s.rules, q)
	answer, by := perform.AgentAnswer(ruled), ruled.By
	if !ok {
		var err error
		if answer, by, err = s.person(ctx, q, what); err != nil {
			return agent.Answer{}, err
		}
	}
	word := map[agent.Verdict]string{agent.Allowed: "allowed", agent.Denied: "denied"}[answer.Verdict]
	if word == "" {
		word = "answered"
	}
	s.says.print(word, fmt.Sprintf("%s (by %s)", redact.Line(what, 120), redact.Line(by, 60)))
	return answer, nil
}

// person shows the question and waits for an answer or the deadline.
func (s *sessionAsker) person(ctx context.Context, q agent.Question, what string) (_ agent.Answer, by string, err error) {
	s.asked++
	documented := perform.DocumentedQuestion(q, s.redact)
	documented.ID, documented.Role = fmt.Sprintf("Q%d", s.asked), workflow.Implementer
	documented.AskedAt = time.Now().UTC()
	documented.Until = documented.AskedAt.Add(s.within)
	details, err := json.Marshal(documented)
	if err != nil {
		return agent.Answer{}, "", fmt.Errorf("ask %s: %w", documented.ID, err)
	}
	s.says.print("asks", fmt.Sprintf("%s (answer it: signalbox answer %d)", redact.Line(what, 120), s.issue))
	waiting, stop := context.WithTimeout(ctx, s.within)
	defer stop()
	given, err := session.Ask(waiting, session.Question{ID: documented.ID, Text: documented.Line1(), Details: details})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return perform.AgentAnswer(engine.Overdue(documented.ID)), workflow.NobodyInTime, nil
	}
	var answer workflow.Answer
	if err == nil {
		err = json.Unmarshal(given, &answer)
	}
	if err != nil {
		return agent.Answer{}, "", err
	}
	if answer.Always && documented.Always != "" {
		s.rules.Allow = append(slices.Clone(s.rules.Allow), documented.Always)
	}
	return perform.AgentAnswer(answer), answer.By, nil
}

// AskedBy is the question that a session's agent asks, nil if it asks none or there is no session.
func AskedBy(info *session.Info) *workflow.Question {
	var q workflow.Question
	if info == nil || info.Question == nil || info.EndedAt != nil || json.Unmarshal(info.Question.Details, &q) != nil {
		return nil
	}
	return &q
}
