package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"signalbox/internal/process"
)

// converse runs a program whose output is a protocol. It reads all of the output, but keeps only as much as the task's limit allows.
func (p Program) converse(ctx context.Context, task Task, exec process.Executor) (Result, error) {
	raw := &limited{to: task.Log, left: task.OutputLimit}
	out := &lines{}
	last := tail{limit: lastBytes}
	command := p.command(task)
	command.Stdout, command.Stderr, command.OutputLimit = out, io.MultiWriter(&last, raw), 0
	running, read, ended := p.listen(ctx, task, &command)
	out.each = func(line []byte, cut bool) error {
		if cut {
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
	end, err := exec.Exec(running, command)
	err = ended(&end, err)
	kept := out.finish()
	end.Truncated = raw.cut
	result := p.result(task, end, last.marked())
	finished := result.Failure == nil && !errors.Is(err, process.ErrUnkillable)
	switch stopped := ctx.Err() != nil && (err != nil || end.Ending == process.Stopped); {
	case finished: // the answer is complete and paid for, even if the program or the log failed afterwards
	case stopped:
		return Result{}, fmt.Errorf("run agent %q: %w", p.Agent, ctx.Err())
	case err != nil:
		return p.notRun(end, err)
	case kept != nil:
		return Result{}, fmt.Errorf("keep output of agent %q: %w", p.Agent, kept)
	}
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
	answer := tail{limit: MaxAnswer}
	_, _ = answer.Write([]byte(e.Answer))
	result := Result{Answer: clean(answer.last()), Process: end, Title: p.Title, Usage: e.Usage, Conversation: e.Conversation, Denied: e.Denied}
	fell := p.endOf(task, end, lastLine(stderr))
	switch {
	case e.Whole:
		result.Failure = e.Failure
	case p.refused(end, e, stderr) != nil:
		result.Failure = p.refused(end, e, stderr)
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
	if result.Failure == nil && result.Answer == "" && task.Role != implementer {
		result.Failure = Fail(NoAnswer, "agent %q ended well but gave no answer", p.Agent)
	}
	return result
}

func (t Task) tell(e Entry) {
	if t.Transcript != nil {
		t.Transcript(e)
	}
}

// maxLine is the longest line of a protocol, in bytes: a tool's whole result may be on one line.
const maxLine = 16 << 20

// lines splits the bytes written to it into lines.
type lines struct {
	each    func(line []byte, cut bool) error
	part    []byte
	dropped bool
}

func (l *lines) Write(p []byte) (int, error) {
	written := len(p)
	for {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			l.add(p)
			return written, nil
		}
		l.add(p[:end])
		if err := l.finish(); err != nil {
			return 0, err
		}
		p = p[end+1:]
	}
}

func (l *lines) add(p []byte) {
	if l.dropped = l.dropped || len(l.part)+len(p) > maxLine; l.dropped {
		l.part = l.part[:0]
		return
	}
	l.part = append(l.part, p...)
}

// finish passes on the unfinished last line, if there is one.
func (l *lines) finish() error {
	line, dropped := bytes.TrimSuffix(l.part, []byte("\r")), l.dropped
	l.part, l.dropped = l.part[:0], false
	if len(line) == 0 && !dropped {
		return nil
	}
	return l.each(line, dropped)
}

// limited keeps the beginning of what is written to it.
type limited struct {
	to   io.Writer
	left int64
	cut  bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.cut = l.cut || int64(len(p)) > l.left; l.cut {
		return len(p), nil
	}
	l.left -= int64(len(p))
	return l.to.Write(p)
}
