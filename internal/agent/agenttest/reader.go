package agenttest

import (
	"bytes"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/process"
)

// ReadsAnything has the driver read what nobody would print, beginning with its recordings and odd,
// and holds what is told of it to what people can read.
func (d Driver) ReadsAnything(f *testing.F, odd string) {
	for _, name := range modeltest.Cases(f, d.Name) {
		f.Add(modeltest.Recorded(f, d.Name, name).Stdout)
	}
	f.Add([]byte(odd))
	f.Fuzz(func(t *testing.T, stdout []byte) { reads(t, d.Reader(), stdout) })
}

func reads(t *testing.T, r agent.Reader, stdout []byte) {
	for line := range bytes.Lines(stdout) {
		entries, _ := r.Line(line)
		for _, e := range entries {
			for _, s := range []string{e.Text, e.Tool, e.Call, e.Model, e.Conversation} {
				if s != agent.Text(s) {
					t.Errorf("entry %+v", e)
				}
			}
		}
	}
	ending := r.End(process.Result{Ending: process.Exited}, string(stdout))
	if ending.Whole && ending.Failure != nil || len(ending.Answer) > agent.MaxAnswer {
		t.Errorf("%+v", ending)
	}
	if c := ending.Conversation; c != nil && !agent.ValidConversation(c.ID) {
		t.Errorf("Conversation = %+v", c)
	}
}
