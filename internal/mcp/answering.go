package mcp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"signalbox/internal/access"
	"signalbox/internal/app"
	"signalbox/internal/problem"
	"signalbox/internal/workflow"
)

type answerIn struct {
	runIn
	Question string `json:"question,omitempty" jsonschema:"the question's id, such as Q1; another one is refused"`
	Verdict  string `json:"verdict,omitempty" jsonschema:"allow, deny, option or text; without it the person is asked, if this client can ask them"`
	Option   int    `json:"option,omitempty" jsonschema:"the number of the option, from 1"`
	Text     string `json:"text,omitempty" jsonschema:"the answer in words, or why it is denied"`
}

// asked is the id of our question to the person in the protocol.
const asked = "answer"

func (s *server) addAnswer() {
	description := "Answer the question that a run's agent asks. Without a verdict the person at this client is asked, if it can."
	if !s.may(access.Approver) {
		description += " Only a person can allow what an agent asks permission for."
	}
	add(s, "answer", description, acts, func(ctx context.Context, c *call, in answerIn) (any, error) {
		asking, err := c.Asking(ctx, in.Run, in.Question)
		if err != nil {
			return nil, err
		}
		q := asking.Question
		given := workflow.Answer{Verdict: workflow.AnswerVerdict(in.Verdict), Option: in.Option, Text: in.Text}
		through := c.client()
		response, inForm := c.request.Params.InputResponses[asked].(*sdk.ElicitResult)
		switch {
		case inForm && c.request.Params.RequestState != s.formOf(asking): // of another question, or of a form that was never shown
			return nil, fmt.Errorf("that is no answer to a form about %s; call answer again", q.ID)
		case inForm:
			if given, err = said(q, response); err != nil {
				return nil, err
			}
		case in.Verdict == "" && s.canAsk(c):
			return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{asked: form(c, q)}, RequestState: s.formOf(asking)}, nil
		case in.Verdict == "":
			return nil, &problem.Error{Err: fmt.Errorf("question %s: %s", q.ID, q.Text), Hint: "call answer with a verdict: allow, deny, option or text"}
		}
		var answer workflow.Answer
		var run workflow.Run
		err = s.audited(ctx, c.App, access.Act{What: "answer", Run: in.Run, Detail: detail(given, inForm)}, func() (err error) {
			person := inForm && s.user == "" // who sits at their own client; a user of several has a role, which may have changed since the form was shown
			if given.Verdict == workflow.AnswerAllow && !person && !s.may(access.Approver) {
				return &problem.Error{Err: errors.New("this client may not allow what an agent asks permission for"),
					Hint: fmt.Sprintf("a person does: signalbox answer %s", asking.Run.Ref())}
			}
			answer, run, err = asking.Give(ctx, given, through)
			return err
		})
		if err != nil {
			return nil, err
		}
		return map[string]any{"answer": answer, "transition": run.Details.Transition}, nil
	})
}

// detail is an answer in the record of acts.
func detail(a workflow.Answer, inForm bool) string {
	words := []string{string(a.Verdict)}
	if a.Option != 0 {
		words = append(words, strconv.Itoa(a.Option))
	}
	if inForm {
		words = append(words, "in a form")
	}
	return strings.TrimSpace(strings.Join(words, " ") + " " + a.Text)
}

// formOf identifies the form about a question. Only a client of the user that was sent the form knows it. The question's number isn't enough: a run and
// its sessions count from 1 again.
func (s *server) formOf(a *app.Asking) string {
	mac := hmac.New(sha256.New, []byte(s.forms))
	q := a.Question
	_, _ = fmt.Fprintf(mac, "%q %q %q %q %q %q %q %q %d", s.user, a.Run.RunID, q.ID, q.Key, q.Kind, q.Tool, q.Text, q.Options, q.AskedAt.UnixNano()) // a hash takes everything
	return hex.EncodeToString(mac.Sum(nil))
}

// canAsk reports whether the client can ask its person, and that person may decide. A user of several decides by their role alone.
func (s *server) canAsk(c *call) bool {
	if s.user != "" && !s.may(access.Approver) {
		return false
	}
	p := c.request.Session.InitializeParams()
	return p != nil && p.Capabilities != nil && p.Capabilities.Elicitation != nil
}

// form is the question as a form of the client.
func form(c *call, q *workflow.Question) *sdk.ElicitParams {
	text := c.Redact.Text(strings.TrimPrefix(q.Tool+": "+q.Text, ": "))
	properties := map[string]any{"text": map[string]any{"type": "string", "description": "the answer in words"}}
	switch q.Kind {
	case workflow.PermissionQuestion:
		properties = map[string]any{"allow": map[string]any{"type": "boolean", "description": "may the agent do this?"},
			"text": map[string]any{"type": "string", "description": "if not: why, for the agent"}}
	case workflow.ChoiceQuestion:
		for i, option := range q.Options {
			text += fmt.Sprintf("\n%d. %s", i+1, c.Redact.Line(option, 400))
		}
		properties["option"] = map[string]any{"type": "integer", "minimum": 1, "maximum": len(q.Options), "description": "the option's number"}
	}
	return &sdk.ElicitParams{Message: fmt.Sprintf("The %s of a run asks:\n%s", q.Role, text),
		RequestedSchema: map[string]any{"type": "object", "properties": properties}}
}

// said is what the person answered in the form.
func said(q *workflow.Question, r *sdk.ElicitResult) (workflow.Answer, error) {
	text, _ := r.Content["text"].(string)
	option, chosen := r.Content["option"].(float64)
	switch allowed, _ := r.Content["allow"].(bool); {
	case r.Action == "cancel":
		return workflow.Answer{}, errors.New("the person gave no answer; the question stays open")
	case r.Action == "decline", q.Kind == workflow.PermissionQuestion && !allowed:
		return workflow.Answer{Verdict: workflow.AnswerDeny, Text: text}, nil
	case q.Kind == workflow.PermissionQuestion:
		return workflow.Answer{Verdict: workflow.AnswerAllow}, nil
	case chosen && option != 0:
		return workflow.Answer{Verdict: workflow.AnswerOption, Option: int(option)}, nil
	}
	return workflow.Answer{Verdict: workflow.AnswerText, Text: text}, nil
}
