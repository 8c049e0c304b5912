// Package tui is the front end for people at a terminal: a board of all runs, what each did, printed and changed, and keys for what a
// person decides. It asks app, gives orders through app/background, so that runs outlive it, and draws; it remembers nothing that
// isn't in documents. Text from outside is redacted and cleaned before it is drawn, so nothing in it acts on the terminal.
package tui

import (
	"context"
	"errors"
	"io"
	"reflect"
	"time"

	tea "charm.land/bubbletea/v2"

	"signalbox/internal/app"
	"signalbox/internal/app/background"
	"signalbox/internal/app/board"
	"signalbox/internal/language"
)

// Config is what the front end needs.
type Config struct {
	// Open opens the project as it is now, and returns what closes it again.
	Open func(ctx context.Context) (context.Context, *app.App, func(), error)
	// Starter starts the processes that execute runs.
	Starter background.Starter
	// Program is signalbox itself, which is started for commands and sessions.
	Program  string
	Env      []string
	Language language.Language
	Now      func() time.Time
}

// Run shows the project until the person quits or ctx ends.
func Run(ctx context.Context, c Config, in io.Reader, out io.Writer) error {
	m, closeProject, err := newModel(ctx, c)
	if err != nil {
		return err
	}
	defer closeProject()
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithEnvironment(c.Env))
	m.drawn = (&frames{program: p}).wanted
	if _, err = p.Run(); errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil {
		return nil
	}
	return err
}

// newModel opens the project, and keeps it open to be looked at.
func newModel(ctx context.Context, c Config) (*model, func(), error) {
	ctx, p, closeProject, err := c.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	changes, err := board.Watch(ctx, p)
	if err != nil {
		closeProject()
		return nil, nil, err
	}
	return &model{Config: c, ctx: ctx, look: p, changes: changes, drawn: func() {}}, closeProject, nil
}

// frames lets the program rest while nothing changes. Its ticker looks for something to draw sixty times a second, which costs most of a
// percent of a core for nothing; it has no setting, so the ticker is reached through the field that holds it.
type frames struct {
	program *tea.Program
	ticker  *time.Ticker
	rests   *time.Timer
}

const (
	frame    = time.Second / 60
	restsIn  = time.Second // a busy machine may take a while to draw the last frame
	longRest = 24 * time.Hour
)

// wanted is called whenever there may be something to draw, always by the program's own loop.
func (f *frames) wanted() {
	if f.ticker == nil {
		field := reflect.ValueOf(f.program).Elem().FieldByName("ticker")
		if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() || field.IsNil() {
			return // another version of the library: it draws as often as it likes
		}
		f.ticker = (*time.Ticker)(field.UnsafePointer())
		f.rests = time.AfterFunc(restsIn, func() { f.ticker.Reset(longRest) })
	}
	if !f.rests.Reset(restsIn) {
		f.ticker.Reset(frame)
	}
}
