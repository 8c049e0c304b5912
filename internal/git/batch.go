package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"signalbox/internal/process"
)

// dialog is one git that is asked line by line and lives until the repository is forgotten, its scope ends or
// we do, which closes its standard input. It is started by the first question and again after it died. A
// process for each question costs a hundred times as much.
type dialog struct {
	start func(ctx context.Context, stdin io.Reader, stdout io.Writer) error

	mu     sync.Mutex
	ask    *io.PipeWriter
	answer *bufio.Reader
	end    context.CancelFunc
	idle   *time.Timer
}

// idleLimit ends a dialog that nobody asks: a run waits for its agent for hours.
const idleLimit = 10 * time.Second

// errNoAnswer: the dialog ended. A process of its own says why.
var errNoAnswer = errors.New("git ended before it answered")

func (r *Repo) dialog(config []string, args ...string) *dialog {
	repo := *r
	return &dialog{start: func(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
		c := call{args: args, config: config}
		result, err := repo.exec.Exec(ctx, process.Command{Args: repo.arguments(c), Dir: repo.gitDir, Env: repo.environ(c), Stdin: stdin, Stdout: stdout})
		if err == nil && !result.OK() {
			err = errNoAnswer
		}
		return err
	}}
}

// exchange sends a question and has its answer read, one at a time. What goes wrong, or is given up in
// between, ends the dialog: the next answer would be read as this one's rest.
func (d *dialog) exchange(ctx context.Context, question string, read func(*bufio.Reader) error) error {
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

func (d *dialog) begin(ctx context.Context) {
	ctx, d.end = context.WithCancel(context.WithoutCancel(ctx))
	stdin, ask := io.Pipe()
	answer, stdout := io.Pipe()
	d.ask, d.answer = ask, bufio.NewReader(answer)
	d.idle = time.AfterFunc(idleLimit, d.close)
	start, end := d.start, d.end
	ended := enter(ctx, func() {
		_, _ = ask.Close(), answer.Close()
		end()
	})
	go func() {
		defer ended()
		err := start(ctx, stdin, stdout)
		if err == nil {
			err = errNoAnswer
		}
		_ = stdin.CloseWithError(err)
		_ = stdout.CloseWithError(err)
	}()
}

func (d *dialog) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closeLocked()
}

func (d *dialog) closeLocked() {
	if d.ask != nil {
		_ = d.ask.Close()
		d.idle.Stop()
		d.end()
		d.ask, d.answer = nil, nil
	}
}

// object is what "info" and "contents" say first; Type is empty when there is no such object.
type object struct {
	ID, Type string
	Size     int64
}

func readObjectLine(out *bufio.Reader) (o object, err error) {
	line, err := out.ReadString('\n')
	if err != nil {
		return o, err
	}
	fields := strings.Fields(line)
	if len(fields) == 3 && ValidID(fields[0]) {
		o.ID, o.Type = fields[0], fields[1]
		o.Size, err = strconv.ParseInt(fields[2], 10, 64)
		return o, err
	}
	if strings.HasSuffix(line, " missing\n") || strings.HasSuffix(line, " ambiguous\n") {
		return o, nil
	}
	return o, fmt.Errorf("git printed %q", clean(line))
}

// info looks an object up by its id or by a ref's full name; both were checked before.
func (r *Repo) info(ctx context.Context, name string) (o object, err error) {
	err = r.asked.exchange(ctx, "info "+name+"\n", func(out *bufio.Reader) error {
		o, err = readObjectLine(out)
		return err
	})
	return o, err
}

// maxInline is the size up to which a file is read through the dialog, which has to read all of it.
const maxInline = 4 << 20

// contents is the first limit bytes of a small object; ok is false for every other one.
func (r *Repo) contents(ctx context.Context, id string, limit int64) (data []byte, ok bool, err error) {
	o, err := r.info(ctx, id)
	if err != nil || o.Type != "blob" || o.Size > maxInline {
		return nil, false, err
	}
	data, err = r.beginning(ctx, "blob", id, limit)
	return data, err == nil, err
}

// beginning is the first limit bytes of an object of that type. All of it passes through the dialog.
func (r *Repo) beginning(ctx context.Context, kind, id string, limit int64) (data []byte, err error) {
	err = r.asked.exchange(ctx, "contents "+id+"\n", func(out *bufio.Reader) error {
		o, err := readObjectLine(out)
		if err != nil || o.Type != kind {
			return errors.Join(err, errNoAnswer)
		}
		data = make([]byte, min(o.Size, limit))
		if _, err := io.ReadFull(out, data); err != nil {
			return err
		}
		_, err = io.CopyN(io.Discard, out, o.Size-int64(len(data))+1) // and the newline after it
		return err
	})
	return data, err
}
