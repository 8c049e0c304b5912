package perform

import (
	"context"
	"errors"
	"fmt"
	"io"

	"signalbox/internal/agent"
	"signalbox/internal/environment"
	"signalbox/internal/place"
	"signalbox/internal/workflow"
)

// agentOutputLimit is how much of an agent's output is kept, in bytes. The rest is dropped; the agent goes on.
const agentOutputLimit = 64 << 20

// callAgent lets one role work in the environment. It first brings the environment to the last recorded commit: what an
// attempt left that was cut off is saved on a ref and takes no part.
func (x *execution) callAgent(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	program, ok := x.agents[a.Role]
	if !ok {
		return workflow.AgentFailed{Outcome: o, Code: string(agent.Unavailable),
			Message: fmt.Sprintf("no agent is configured for the role %q; name one in the configuration, or give a program (--agent)", a.Role)}, nil
	}
	env, err := x.ready(ctx, a)
	if err != nil {
		return nil, err
	}
	if err := x.agentsStart(ctx, place.For(&x.run, env)); err != nil {
		return nil, err
	}
	allowed, ended, err := x.mayCall(ctx, o)
	if err != nil || ended != nil {
		return ended, err
	}
	prompt, err := x.prompt(ctx, a)
	if err != nil {
		return nil, err
	}
	result, call, path, err := x.converse(ctx, program, a, prompt, allowed, place.For(&x.run, env))
	o.Call = &call
	refused := result.Failure != nil && result.Failure.Code == agent.Overspent
	if code, reached := allowed.reached(o.Call.Usage); code != "" && (errors.Is(err, errOverspent) || refused) {
		return allowed.failed(o, code, "the call used "+reached, path), nil
	}
	if refused {
		code, reached := allowed.narrower()
		return allowed.failed(o, code, "the call used "+reached+": "+x.clean(result.Failure.Message), path), nil
	}
	if err != nil {
		return nil, fmt.Errorf("run agent %q as %s: %w", program.Name(), a.Role, err)
	}
	if f := result.Failure; f != nil {
		return workflow.AgentFailed{Outcome: o, Code: string(f.Code), Message: x.clean(f.Message), LogPath: path, Until: f.Until}, nil
	}
	return x.answer(o, a, result.Answer, path), nil
}

// converse lets the agent work, with its output in a log and its events in a transcript beside it. The returned call is valid
// even with an error.
func (x *execution) converse(ctx context.Context, program agent.Agent, a workflow.Action, prompt string, allowed allowance, env environment.Environment) (agent.Result, workflow.Call, string, error) {
	name := logName(string(a.Role), x.stepOf(a), a.Attempt)
	log, path, err := openLog(x.Artifacts, x.Redact, workflow.RefOf(&x.run), name)
	if err != nil {
		return agent.Result{}, workflow.Call{}, "", err
	}
	calling, end := context.WithCancelCause(ctx)
	defer end(nil)
	c := &call{execution: x, key: a.Key, name: name, soFar: workflow.Call{Agent: program.Name()}, allowed: allowed, end: end}
	limits, budget := x.run.Details.Settings.Limits, allowed.run.Within(allowed.day)
	result, err := program.Run(calling, agent.Task{Key: a.Key, Role: string(a.Role), Prompt: prompt, Dir: env.Dir(), Private: env.Private(),
		Env: place.Variables(&x.run), StepID: a.StepID, Attempt: a.Attempt, Round: x.run.Details.Used.ReviewRounds + 1, Log: logged{log, end},
		Transcript: c.heard, InFlight: c.inFlight, Ask: c.asker(a.Role), Budget: agent.Budget{Tokens: budget.Tokens, CostUSD: float64(budget.CostMicroUSD) / 1e6}, Conversation: x.conversation(a.Role, program.Name()),
		Idle: seconds(limits.AgentIdleSec), Total: seconds(limits.AgentTotalSec), OutputLimit: agentOutputLimit}, env)
	if err != nil && ctx.Err() == nil && calling.Err() != nil {
		err = context.Cause(calling)
		c.heard(agent.Entry{Kind: agent.Over, Failed: true, Text: err.Error()})
	}
	if ctx.Err() != nil { // no one waits for the call's end, so report its usage now
		c.mu.Lock()
		if c.unreported {
			c.report()
		}
		c.mu.Unlock()
	}
	lost := log.Close()
	if c.file != nil {
		lost = errors.Join(lost, c.file.Close())
	}
	if lost != nil { // the agent's result is paid for, and matters more than its log
		x.Logger.Warn("the end of a call's log is lost", "run", x.run.RunID, "log", path, "err", lost)
	}
	return result, c.cameTo(result), path, err
}

// logged is the log of a call. The first failed write ends the call: otherwise the agent would cost money unheard.
type logged struct {
	io.Writer
	end context.CancelCauseFunc
}

func (l logged) Write(p []byte) (int, error) {
	n, err := l.Writer.Write(p)
	if err != nil {
		l.end(fmt.Errorf("write log: %w", err))
	}
	return n, err
}

// conversation returns the role's conversation so far, if it was with the same agent.
func (x *execution) conversation(role workflow.Role, name string) *agent.Conversation {
	c, ok := x.run.Details.Conversations[role]
	if !ok || c.Agent != name || !agent.ValidConversation(c.ID) {
		return nil
	}
	return &agent.Conversation{ID: c.ID, Usage: agentUsage(c.Counted)}
}

// ready returns the environment with exactly the content of the last recorded commit, for a program that may change it.
func (x *execution) ready(ctx context.Context, a workflow.Action) (environment.Environment, error) {
	env, err := x.environment(ctx)
	if err != nil {
		return nil, err
	}
	head, known, tested := x.run.Details.Head, x.presence.Content, x.presence.TestedAt
	x.presence.Content, x.presence.TestedAt = "", ""
	if known == head {
		return env, nil
	}
	first := !x.presence.Entered
	err = env.Reset(ctx, head, x.savedWorkRef(a))
	switch tooLarge := errors.Is(err, environment.ErrTooLarge); {
	case tooLarge && a.InPlace:
		return env, nil
	case tooLarge && tested == head:
		x.Logger.Info("files that the tests left are dropped", "run", x.run.RunID, "err", err)
		err = env.Reset(ctx, head, "")
	}
	if err != nil {
		return nil, fmt.Errorf("bring environment to %.10s: %w", head, err)
	}
	x.presence.Entered = true
	if first {
		err = x.reportFound(ctx)
	}
	return env, err
}

// stepOf returns the action's step for the name of a log, or its phase if it belongs to no step.
func (x *execution) stepOf(a workflow.Action) string {
	if a.StepID != "" {
		return a.StepID
	}
	return string(x.run.Details.Phase.Step())
}

// messageLimit is how much of a program's message the documents show, in runes.
const messageLimit = 4000

func (x *execution) clean(text string) string {
	return shorten(x.Redact.Text(text), messageLimit)
}

// shorten keeps the end of a text, where programs say what went wrong.
func shorten(text string, limit int) string {
	if runes := []rune(text); len(runes) > limit {
		return "… " + string(runes[len(runes)-limit:])
	}
	return text
}
