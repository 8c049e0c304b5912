package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"signalbox/internal/problem"
	"signalbox/internal/redact"
)

// maxLine is the longest line of the log at a terminal, in characters.
const maxLine = 400

// console writes the log for a person: one line for each message, and what to do about it on the next.
type console struct {
	options *slog.HandlerOptions
	secrets *secrets
	to      io.Writer
	writing *sync.Mutex
	attrs   []slog.Attr
}

func (c *console) Enabled(_ context.Context, level slog.Level) bool {
	return level >= c.options.Level.Level()
}

func (c *console) Handle(_ context.Context, r slog.Record) error {
	project, said, hint := "", r.Message, ""
	add := func(a slog.Attr) bool {
		err, failed := a.Value.Any().(error)
		switch p := (*problem.Error)(nil); {
		case a.Key == "project":
			project = a.Value.String() + ": "
		case !failed:
			said += fmt.Sprintf(", %s %v", a.Key, c.secrets.replace(nil, a).Value)
		case errors.As(err, &p) && p.Hint != "":
			hint = p.Hint
			fallthrough
		default:
			said += ": " + err.Error()
		}
		return true
	}
	for _, a := range c.attrs {
		add(a)
	}
	r.Attrs(add)
	line := r.Time.Format("15:04:05 ")
	if r.Level >= slog.LevelWarn {
		line += "warning: "
	}
	line += c.line(project+said) + "\n"
	if hint != "" {
		line += "         hint: " + c.line(hint) + "\n"
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := io.WriteString(c.to, line)
	return err
}

func (c *console) line(text string) string {
	return redact.Line(strings.Join(strings.Fields(c.secrets.hide(text)), " "), maxLine)
}

func (c *console) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *c
	with.attrs = append(slices.Clone(c.attrs), attrs...)
	return &with
}

func (c *console) WithGroup(string) slog.Handler { return c }
