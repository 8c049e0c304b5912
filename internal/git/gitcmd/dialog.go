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

// Dialog is one git that is asked line by line and lives until the repository is forgotten, its scope ends or
// we do, which closes its standard input. It is started by the first question and again after it died. A
// process for each question costs a hundred times as much.
type Dialog struct {
	start func(ctx context.Context, stdin io.Reader, stdout io.Writer) error

	mu     sync.Mutex
	ask    *io.PipeWriter
	answer *bufio.Reader
	end    context.CancelFunc
	idle   *time.Timer
}

// idleLimit ends a dialog that nobody asks: a run waits for its agent for hours.
const idleLimit = 10 * time.Second

// ErrEnded: the dialog ended. A process of its own says why.
var ErrEnded = errors.New("git ended before it answered")

// NewDialog returns the dialog that a git with these arguments holds, once it is asked.
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

// Exchange sends a question and has its answer read, one at a time. What goes wrong, or is given up in
// between, ends the dialog: the next answer would be read as this one's rest.
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

// Close ends the git, if it is running. A later question starts another.
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
