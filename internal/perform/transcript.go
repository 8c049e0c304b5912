package perform

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/place"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// call is one running call of an agent: its transcript, and its result so far.
type call struct {
	*execution
	key string
	mu  sync.Mutex // an agent's reader and the gateway both report
	// name is the log's. The first entry creates the transcript.
	name string
	file io.WriteCloser
	// soFar is reported to the run when a conversation begins, with the agent's next event after it used tokens, every
	// reportEvery, and when the call is cut off. unreported: the usage grew since.
	soFar      workflow.Call
	reported   time.Time
	unreported bool
	allowed    allowance
	// end ends the call with a reason.
	end context.CancelCauseFunc
}

// reportEvery limits the cost that a crash may lose while an agent only reports usage.
const reportEvery = 10 * time.Second

// errOverspent ends a call that used up a budget.
var errOverspent = errors.New("the call used up the budget")

// heard writes one entry of the call's transcript.
func (c *call) heard(e agent.Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.Time = c.Clock.Now().UTC()
	e.Text, e.Tool = redact.Clean(c.Redact.String(redact.Clean(e.Text))), redact.Line(c.Redact.String(e.Tool), 200)
	line, err := json.Marshal(e)
	if err == nil && c.file == nil {
		c.file, err = c.Artifacts.CreateTranscript(workflow.RefOf(&c.run), c.name)
	}
	if err == nil {
		_, err = c.file.Write(append(line, '\n'))
	}
	if err != nil {
		c.end(fmt.Errorf("write transcript: %w", err))
	}
	switch e.Kind {
	case agent.Began:
		c.soFar.Program, c.soFar.Model = redact.Line(e.Program, 100), redact.Line(c.Redact.String(e.Model), 100)
		if agent.ValidConversation(e.Conversation) {
			c.soFar.Conversation = &workflow.Conversation{Agent: c.soFar.Agent, ID: e.Conversation}
			c.report()
		}
	case agent.Used:
		c.uses(e.Usage)
	default:
		if c.unreported {
			c.report()
		}
	}
}

// inFlight reports what unanswered requests may still use. It saves that early: a kill must not make them free.
func (c *call) inFlight(u agent.Usage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.soFar.Reserved
	c.soFar.Reserved, c.unreported = place.Usage(u), true
	if c.soFar.Reserved.Tokens() > before.Tokens() || c.soFar.Reserved.CostMicroUSD > before.CostMicroUSD {
		c.report()
	}
}

// uses counts usage while the agent works, and ends the call when it reaches a budget.
func (c *call) uses(u *agent.Usage) {
	if u == nil {
		return
	}
	before := c.soFar.Usage
	c.unreported = true
	c.soFar.Usage = place.Usage(agentUsage(before).Add(*u))
	if _, reached := c.allowed.reached(c.soFar.Usage); reached != "" {
		c.end(fmt.Errorf("%w: %s", errOverspent, reached))
	}
	if c.Clock.Now().Sub(c.reported) >= reportEvery {
		c.report()
	}
}

// cameTo returns the call's result; the agent's own usage report counts if there is one.
func (c *call) cameTo(r agent.Result) workflow.Call {
	c.soFar.Reserved = workflow.Usage{}
	if r.Usage != (agent.Usage{}) {
		c.soFar.Usage = place.Usage(r.Usage)
	}
	c.soFar.Program = cmp.Or(redact.Line(r.Title, 100), c.soFar.Program)
	c.soFar.Model = cmp.Or(redact.Line(c.Redact.String(r.Model), 100), c.soFar.Model)
	if r.Conversation != nil && agent.ValidConversation(r.Conversation.ID) {
		c.soFar.Conversation = &workflow.Conversation{Agent: c.soFar.Agent, ID: r.Conversation.ID, Counted: place.Usage(r.Conversation.Usage)}
	}
	for _, tool := range r.Denied {
		c.soFar.Denied = append(c.soFar.Denied, redact.Line(c.Redact.String(tool), 200))
	}
	return c.soFar
}

// report has the engine save the call's result so far.
func (c *call) report() {
	c.reported, c.unreported = c.Clock.Now(), false
	c.progress.Report(workflow.AgentReported{Key: c.key, Call: c.soFar})
}

func agentUsage(u workflow.Usage) agent.Usage {
	return agent.Usage{InputTokens: u.InputTokens, CachedTokens: u.CachedTokens, OutputTokens: u.OutputTokens, CostUSD: float64(u.CostMicroUSD) / 1e6}
}
