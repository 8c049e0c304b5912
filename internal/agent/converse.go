package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"signalbox/internal/process"
)

// converse runs a program whose output is a protocol. It reads all of the output, because the answer comes last, but keeps only as much as the task's
// limit allows.
func (p Program) converse(ctx context.Context, task Task, exec process.Executor) (Result, error) {
	// raw is the log: every line that the Reader keeps, and standard error.
	raw := &limited{to: task.Log, left: task.OutputLimit}
	out := &lines{}
	last := tail{limit: lastBytes}
	command := p.command(task)
	command.Stdout, command.Stderr, command.OutputLimit = out, io.MultiWriter(&last, raw), 0
	running, read, ended := p.listen(ctx, task, &command)
	out.each = func(line []byte, cut bool) error {
		if cut { // the other lines still tell most of what happened
			task.tell(Entry{Kind: Warned, Text: fmt.Sprintf("a line of more than %d bytes was left out", maxLine)})
			return nil
		}
		entries, keep := read(line)
		for _, entry := range entries {
			if entry.Kind == Began {
				entry.Program = p.Title
			}
			task.tell(entry)
		}
		if !keep {
			return nil
		}
		_, err := raw.Write(append(bytes.Clone(line), '\n'))
		return err
	}
	// The program's output reaches each while Exec runs.
	end, err := exec.Exec(running, command)
	err = ended(&end, err)
	kept := out.finish()
	end.Truncated = raw.cut
	result := p.result(task, end, last.marked())
	finished := result.Failure == nil && !errors.Is(err, process.ErrUnkillable)
	// A call that was stopped has no result, and one whose log is lost can't be shown to anyone: both outcomes are unknown.
	switch stopped := ctx.Err() != nil && (err != nil || end.Ending == process.Stopped); {
	case finished: // the answer is complete and paid for, even if the program or the log failed afterwards
	case stopped:
		return Result{}, fmt.Errorf("run agent %q: %w", p.Agent, ctx.Err())
	case err != nil:
		return p.notRun(end, err)
	case kept != nil:
		return Result{}, fmt.Errorf("keep output of agent %q: %w", p.Agent, kept)
	}
	// The transcript ends with the result, also for a failure.
	entry := Entry{Kind: Over, Usage: &result.Usage}
	if result.Failure != nil {
		entry.Text, entry.Failed = string(result.Failure.Code)+": "+result.Failure.Message, true
	}
	task.tell(entry)
	return result, nil
}

// result combines the agent's report with its program's end. A passed deadline is the agent's failure, unless the agent had reported that it
// finished. If the agent was retrying at that time, the cause of the retry is the reason.
func (p Program) result(task Task, end process.Result, stderr string) Result {
	e := p.Reader.End(end, stderr)
	// A driver keeps an answer below the limit where it can; the last bytes count here as in Run.
	answer := tail{limit: MaxAnswer}
	_, _ = answer.Write([]byte(e.Answer))
	result := Result{Answer: clean(answer.last()), Process: end, Title: p.Title, Usage: e.Usage, Conversation: e.Conversation, Denied: e.Denied}
	fell, refused := p.endOf(task, end, lastLine(stderr)), p.refused(end, e, stderr)
	switch {
	case e.Whole:
		result.Failure = e.Failure
	case refused != nil:
		result.Failure = refused
	// A deadline or a signal came while the agent was in trouble: people need both reasons, and the code of the trouble decides what follows.
	case e.Failure != nil && fell != nil && end.Ending != process.Exited:
		result.Failure = e.Failure
		result.Failure.Message = line(fell.Message + ": " + e.Failure.Message)
	case e.Failure != nil:
		result.Failure = e.Failure
	case fell != nil:
		result.Failure = fell
	default:
		result.Failure = Fail(Crashed, "agent %q ended without saying that it had finished", p.Agent)
	}
	// Workflow reads the answer of every role but the implementer.
	if result.Failure == nil && result.Answer == "" && task.Role != implementer {
		result.Failure = Fail(NoAnswer, "agent %q ended well but gave no answer", p.Agent)
	}
	return result
}

// tell adds an entry to the transcript, if there is one.
func (t Task) tell(e Entry) {
	if t.Transcript != nil {
		t.Transcript(e)
	}
}
