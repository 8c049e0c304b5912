package mcp

import (
	"context"
	"slices"
	"strings"

	"signalbox/internal/app"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

const (
	// page is how much text a page has, in bytes, unless it is asked for less. JSON may need twice as much.
	page = 48 << 10
	// maxFiles is how many files of a change are listed, if their names are not longer than page together.
	maxFiles = 300
	// lastLines is how many lines of a log are shown unless others are asked for, longLine how long one is, in runes.
	lastLines = 200
	longLine  = 4000
)

type logIn struct {
	runIn
	Log  string `json:"log,omitempty" jsonschema:"the log's name, as in logs; the newest if it isn't given"`
	From int    `json:"from,omitempty" jsonschema:"the first line, from 1; without it the last 200 lines are shown"`
}

type logged struct {
	Logs  []string `json:"logs"`
	Log   string   `json:"log"`
	From  int      `json:"from"`
	Lines []string `json:"lines"`
	Total int      `json:"total"`
	// Next is the first line of the next page; 0 if there is none.
	Next int `json:"next"`
}

type diffIn struct {
	runIn
	From int `json:"from,omitempty" jsonschema:"where the page begins, as next in the answer before"`
}

type differs struct {
	app.Change
	MoreFiles bool   `json:"more_files"`
	Patch     string `json:"patch"`
	// Total is the patch's size in bytes; Next is where the next page begins, 0 if there is none.
	Total int `json:"total"`
	Next  int `json:"next"`
}

func (s *server) addReading() {
	add(s, "get_log", "Read what agents, tests and setup commands printed, a page at a time. A transcript has one JSON object a line.", looks,
		func(ctx context.Context, c *call, in logIn) (any, error) {
			found, err := c.Find(ctx, in.Run)
			if err != nil {
				return nil, err
			}
			logs := c.Logs(found.Ref)
			in.From = max(0, in.From)
			v := logged{Log: in.Log, From: in.From, Lines: []string{}}
			if v.Logs, err = logs.Names(); err == nil && v.Log == "" && len(v.Logs) > 0 {
				v.Log = v.Logs[len(v.Logs)-1]
			}
			if err != nil || v.Log == "" {
				return v, err
			}
			size := 0
			err = logs.Read(ctx, v.Log, false, func(l app.LogLine) {
				if l.Begins {
					return
				}
				v.Total++
				switch {
				case in.From > 0 && (v.Total < in.From || v.Next > 0):
					return
				case in.From > 0 && size > page:
					v.Next = v.Total
					return
				}
				line := redact.Cut(redact.Clean(strings.TrimRight(l.Text, "\r\n")), longLine)
				v.Lines, size = append(v.Lines, line), size+len(line)
				for in.From == 0 && (len(v.Lines) > lastLines || size > page) {
					size, v.Lines = size-len(v.Lines[0]), v.Lines[1:]
				}
			})
			if in.From == 0 {
				v.From = v.Total - len(v.Lines) + 1
			}
			return v, err
		})
	add(s, "get_diff", "Read what a run changed so far, which is exactly what an approval agrees to: its files and its patch, a page at a time.", looks,
		func(ctx context.Context, c *call, in diffIn) (any, error) {
			found, err := c.Find(ctx, in.Run)
			if err != nil {
				return nil, err
			}
			return c.diff(ctx, &found.Run, in.From)
		})
}

func (c *call) diff(ctx context.Context, run *workflow.Run, from int) (differs, error) {
	change, err := c.Change(ctx, run)
	from = max(0, from)
	v := differs{Change: change}
	size := 0
	fit := slices.IndexFunc(change.Files, func(f app.ChangedFile) bool {
		size += len(f.Path)
		return size > page
	})
	if fit < 0 || fit > maxFiles {
		fit = maxFiles
	}
	if v.Files, v.MoreFiles = first(change.Files, fit); err != nil || change.Head == "" || len(change.Files) == 0 {
		return v, err
	}
	shown := &window{from: from}
	hidden := c.Redact.CleanWriter(shown)
	err = c.Repo.Patch(ctx, change.Base, change.Head, hidden)
	if closeErr := hidden.Close(); err == nil {
		err = closeErr
	}
	v.Patch, v.Total = strings.ToValidUTF8(string(shown.kept), ""), shown.passed
	if end := from + len(shown.kept); end < shown.passed {
		v.Next = end
	}
	return v, err
}

// window keeps a page of what is written to it.
type window struct {
	from, passed int
	kept         []byte
}

func (w *window) Write(p []byte) (int, error) {
	begin := max(0, w.from-w.passed)
	if room := page - len(w.kept); begin < len(p) && room > 0 {
		w.kept = append(w.kept, p[begin:min(len(p), begin+room)]...)
	}
	w.passed += len(p)
	return len(p), nil
}
