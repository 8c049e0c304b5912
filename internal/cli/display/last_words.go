package display

import (
	"encoding/json"
	"io"
	"os"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/cli/command"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// lastWordsTail is how much of a log's end is searched for the last thing said, in bytes.
const lastWordsTail = 16 << 10

// lastWords is the last thing that the run's agent said or did, or that its command printed, on one line; empty where
// there is nothing to see.
func LastWords(p *command.Project, r *workflow.Run) string {
	if r.State != workflow.Running {
		return ""
	}
	l := &LogReader{Project: p, Ref: workflow.RefOf(r), Dir: store.RunDir(workflow.RefOf(r)) + "/logs"}
	names, err := l.Names()
	if err != nil || len(names) == 0 {
		return ""
	}
	log := l.Dir + "/" + names[len(names)-1]
	if said := lastLine(p, store.TranscriptPath(log), func(line string) string { return saidIn(p, line) }); said != "" {
		return said
	}
	return lastLine(p, log, func(line string) string { return redact.Line(redact.Clean(line), 300) })
}

// saidIn is what one line of a transcript says of the agent's words and actions.
func saidIn(p *command.Project, line string) string {
	var e agent.Entry
	if json.Unmarshal([]byte(line), &e) != nil {
		return ""
	}
	switch e.Kind {
	case agent.Said, agent.ToolCalled, agent.Retrying, agent.Warned, agent.Erred:
		what, says := entry(p.Invocation, e)
		return redact.Line(redact.Clean(strings.TrimSpace(what)+" "+says), 300)
	}
	return ""
}

// lastLine is the last line near the end of an artifact that shows anything, as shown.
func lastLine(p *command.Project, name string, shown func(string) string) string {
	file, err := p.Store.OpenArtifact(name)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	tail, err := tailOf(file, lastWordsTail)
	if err != nil {
		return ""
	}
	lines := strings.Split(tail, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if text := strings.TrimSpace(shown(lines[i])); text != "" {
			return text
		}
	}
	return ""
}

func tailOf(file *os.File, limit int64) (string, error) {
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	data := make([]byte, min(limit, info.Size()))
	n, err := file.ReadAt(data, info.Size()-int64(len(data)))
	if err == io.EOF {
		err = nil
	}
	return string(data[:n]), err
}
