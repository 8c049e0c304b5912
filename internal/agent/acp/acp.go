// Package acp speaks the Agent Client Protocol, JSON-RPC on a program's standard streams, in which an
// agent may ask while it works. What a vendor's program says in its own way it leaves to the Dialect.
package acp

import (
	"encoding/json"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// Dialect is what one vendor's program says in its own way.
type Dialect struct {
	// Program is its name in words for people.
	Program string
	// Resume is the method by which a conversation is gone on with. Retells: the program then tells all
	// of that conversation again, at its own time; Settle is a request that it answers at once, by which
	// the end of that is known.
	Resume  string
	Retells bool
	Settle  func(session string) (method string, params any)
	// Question is what a request for permission asks, without its ID; Input what a person sees of a tool's input.
	Question func(Use) agent.Question
	Input    func(Use) string
	// Tool is the program's own name of a tool, where a call tells it; empty is what the call's beginning told.
	Tool func(Use) string
	// Spent is what a prompt used, read of its whole result.
	Spent func(result json.RawMessage) agent.Usage
	// Failure is what a problem means for a prompt, Silent why a program that did not say that it had
	// finished ended so, nil where that is not told.
	Failure func(Problem, process.Result) *agent.Failure
	Silent  func(end process.Result, stderr string) *agent.Failure
	// Cut is of a program that says that its turn is over also where the model's answer broke off: whether
	// it did, by what was used and whether anything was said after the last tool.
	Cut func(spent agent.Usage, spoke bool) bool
}

// Talk is a reader of a conversation in which a program may ask. It implements agent.Dialogue.
type Talk struct {
	Dialect
	model, dir, prompt string
	resumed            *agent.Conversation
	session            string
	next               agent.Turn
	// sent counts our requests; prompted is the one of the prompt in hand, settling the one by which the
	// end of what is told again is known, and retold that some of it was told since that.
	sent, prompted, settling int
	retold                   bool
	saying
	using
	// asked are the program's requests by our questions, refused is what it is to be told of what was denied.
	asked     map[string]rpc
	refused   []string
	denied    []string
	followUps int
	usage     agent.Usage
	problem   *Problem
	failure   *agent.Failure
	// over: it said that it had finished.
	over bool
}

// maxFollowUps bounds how often it is told to go on without what was denied.
const maxFollowUps = 20

// New is the talk about a task, with a model by the name that is to be noted.
func New(d Dialect, model string, task agent.Task) *Talk {
	return &Talk{Dialect: d, model: model, dir: task.Dir, prompt: task.Prompt, resumed: task.Conversation,
		using: using{tools: map[string]string{}, began: map[string]bool{}}, asked: map[string]rpc{}}
}

// The requests of ours, by their numbers; prompts follow.
const (
	initializing = 1
	opening      = 2
)

// Begin is the first line of the program's input.
func (t *Talk) Begin() []byte {
	t.request("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{},
		"clientInfo": map[string]string{"name": "signalbox", "version": "1"}})
	return t.Turn().Tell
}

// Line implements agent.Reader.
func (t *Talk) Line(line []byte) (entries []agent.Entry, keep bool) {
	var m rpc
	switch err := json.Unmarshal(line, &m); {
	case err != nil && m.Error == nil: // data of another kind is left out of a problem
	case m.Method == "session/update":
		return t.updated(m.Params), true
	case m.Method == "session/request_permission" && m.ID != nil:
		return t.permission(m), true
	case m.Method != "" && m.ID != nil:
		t.tell(rpc{ID: m.ID, Error: &Problem{Code: unknownMethod, Message: "this is not known here"}})
	case m.Method == "" && m.ID != nil:
		return t.responded(m), true
	}
	return nil, true
}

// responded goes on where a request of ours was answered.
func (t *Talk) responded(m rpc) []agent.Entry {
	var number int
	if json.Unmarshal(m.ID, &number) != nil {
		return nil
	}
	switch {
	case m.Error != nil:
		return t.failed(number, *m.Error)
	case number == initializing:
		t.open()
	case number == opening && t.prompted+t.settling == 0:
		return t.opened(m.Result)
	case number == t.settling && number > opening && t.prompted == 0:
		t.settle()
	case number == t.prompted && number > opening:
		return t.finished(m.Result)
	}
	return nil
}

// failed takes the problem for the end of the talk.
func (t *Talk) failed(number int, p Problem) []agent.Entry {
	t.problem = &p
	said := p.Message
	if p.Data.Details != "" {
		said += ": " + p.Data.Details
	}
	if number == opening && t.resumed != nil {
		t.failure = agent.Fail(agent.Lost, "%s does not know the conversation any more: %s", t.Program, said)
	}
	t.next.Over = true
	return append(t.flush(), agent.Entry{Kind: agent.Erred, Text: agent.Text(said)})
}

// fail ends the talk for a reason of ours.
func (t *Talk) fail(f *agent.Failure) []agent.Entry {
	t.failure, t.next.Over = f, true
	return append(t.flush(), agent.Entry{Kind: agent.Erred, Text: f.Message})
}

// End implements agent.Reader.
func (t *Talk) End(end process.Result, stderr string) agent.Ending {
	e := agent.Ending{Usage: t.usage, Denied: t.denied, Failure: t.failure, Whole: t.over, Answer: t.answer}
	if t.session != "" {
		e.Conversation = &agent.Conversation{ID: t.session}
	}
	switch {
	case e.Failure != nil || t.over:
	case t.problem != nil:
		e.Failure = t.Failure(*t.problem, end)
	default:
		e.Failure = t.Silent(end, stderr)
	}
	return e
}

// Turn implements agent.Dialogue.
func (t *Talk) Turn() agent.Turn {
	next := t.next
	t.next = agent.Turn{}
	return next
}

// followUp is what it is told after a denial.
func (t *Talk) followUp() string {
	t.followUps++
	said := strings.Join(t.refused, "\n")
	t.refused = nil
	return said
}
