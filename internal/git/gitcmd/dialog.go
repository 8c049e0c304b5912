package gitcmd

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"signalbox/internal/process"
)

// Dialog is one git that answers line by line, because a process for each question costs a hundred times
// as much. The first question starts it, also after it died. It ends with the repository, its scope or
// this process, all of which close its standard input.
type Dialog struct {
	start func(ctx context.Context, stdin io.Reader, stdout io.Writer) error

	mu     sync.Mutex
	ask    *io.PipeWriter
	answer *bufio.Reader
	end    context.CancelFunc
	idle   *time.Timer
}

// idleLimit ends an unused dialog: a run waits for its agent for hours.
const idleLimit = 10 * time.Second

// ErrEnded: the dialog ended. A process for the one question reports why.
var ErrEnded = errors.New("git ended before it answered")

// NewDialog returns a dialog with a git of these arguments. The first question starts it.
func (r *Runner) NewDialog(args ...string) *Dialog {
	return &Dialog{start: func(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
		c := Call{Args: args}
		result, err := r.Exec.Exec(ctx, process.Command{Args: r.arguments(c), Dir: r.GitDir, Env: r.environ(c), Stdin: stdin, Stdout: stdout})
		if err == nil && !result.OK() {
			err = ErrEnded
		}
		return err
	}}
}

// Exchange sends a question and lets read take its answer, one at a time. An error, or a ctx that ends
// in between, ends the dialog: the rest of this answer would be taken for the next one.
func (d *Dialog) Exchange(ctx context.Context, question string, read func(*bufio.Reader) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if d.ask == nil {
		d.begin(ctx)
	}
	d.idle.Stop()
	defer func() {
		if d.ask != nil {
			d.idle.Reset(idleLimit)
		}
	}()
	stop := context.AfterFunc(ctx, d.end)
	_, err := io.WriteString(d.ask, question)
	if err == nil {
		err = read(d.answer)
	}
	if !stop() && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		d.closeLocked()
	}
	return err
}

func (d *Dialog) begin(ctx context.Context) {
	ctx, d.end = context.WithCancel(context.WithoutCancel(ctx))
	stdin, ask := io.Pipe()
	answer, stdout := io.Pipe()
	d.ask, d.answer = ask, bufio.NewReader(answer)
	d.idle = time.AfterFunc(idleLimit, d.Close)
	start, end := d.start, d.end
	ended := enter(ctx, func() {
		_, _ = ask.Close(), answer.Close()
		end()
	})
	go func() {
		defer ended()
		err := start(ctx, stdin, stdout)
		if err == nil {
			err = ErrEnded
		}
		_ = stdin.CloseWithError(err)
		_ = stdout.CloseWithError(err)
	}()
}

// Close ends the git if it is running. A later question starts another.
func (d *Dialog) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closeLocked()
}

func (d *Dialog) closeLocked() {
	if d.ask != nil {
		_ = d.ask.Close()
		d.idle.Stop()
		d.end()
		d.ask, d.answer = nil, nil
	}
}
