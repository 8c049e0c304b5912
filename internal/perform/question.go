package perform

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/permission"
	"signalbox/internal/workflow"
)

// asker passes on the agent's questions and writes the answers to the call's transcript.
func (c *call) asker(role workflow.Role) agent.Asker {
	return func(ctx context.Context, q agent.Question) (agent.Answer, error) {
		documented := DocumentedQuestion(q, c.Redact.String)
		documented.Key = c.key
		answer, err := c.progress.Ask(ctx, documented, func(latest *workflow.Run) (workflow.Answer, bool) {
			rules := c.Rules[role]
			rules.Allow = slices.Concat(rules.Allow, latest.Details.Allowed[role])
			return Ruled(rules, q)
		})
		if err != nil {
			return agent.Answer{}, err
		}
		given := AgentAnswer(answer)
		text := given.Text
		if given.Verdict == agent.Chosen && given.Option < len(q.Options) {
			text = q.Options[given.Option]
		}
		c.heard(agent.Entry{Kind: agent.QuestionAnswered, Tool: q.Tool, Failed: given.Verdict == agent.Denied,
			Text: strings.TrimSuffix(fmt.Sprintf("%s, by %s: %s", given.Verdict, answer.By, text), ": ")})
		return given, nil
	}
}

// Ruled returns the rules' answer to a question and names the rule; ok is false if a person has to answer.
func Ruled(rules permission.Rules, q agent.Question) (answer workflow.Answer, ok bool) {
	verdict, pattern := rules.Verdict(permission.Use{Tool: q.Tool, Subject: q.Subject, Altered: q.Altered})
	switch {
	case q.Kind != agent.Permission || verdict == permission.Ask:
		return workflow.Answer{}, false
	case verdict == permission.Allow:
		return workflow.Answer{Verdict: workflow.AnswerAllow, By: "the rule " + pattern}, true
	}
	return workflow.Answer{Verdict: workflow.AnswerDeny, By: "the rule " + pattern, Text: "The project's rules deny this. Go on without it."}, true
}

// DocumentedQuestion converts an agent's question for documents, without secrets. A person can't always allow what they don't
// see completely.
func DocumentedQuestion(q agent.Question, redact func(string) string) workflow.Question {
	d := workflow.Question{Kind: workflow.QuestionKind(q.Kind), Tool: redact(q.Tool), Subject: redact(q.Subject), Text: redact(q.Text)}
	for _, option := range q.Options {
		d.Options = append(d.Options, redact(option))
	}
	d.Altered = q.Altered || d.Subject != q.Subject || d.Text != q.Text || d.Tool != q.Tool
	if always, err := permission.Exactly(permission.Use{Tool: q.Tool, Subject: q.Subject, Altered: q.Altered}); err == nil && !d.Altered && q.Kind == agent.Permission {
		d.Always = always
	}
	return d
}

// AgentAnswer converts a documented answer for an agent.
func AgentAnswer(a workflow.Answer) agent.Answer {
	r := agent.Answer{Verdict: agent.Verdict(a.Verdict), Option: a.Option - 1, Text: a.Text}
	if a.Verdict == workflow.AnswerDeny && a.Text == "" {
		r.Text = "A person denied this. Go on without it."
	}
	return r
}
