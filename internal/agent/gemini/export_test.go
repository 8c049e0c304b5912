package gemini

import (
	"bytes"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// ReadAnything reads what nobody would print, and holds what is told of it to what people can read.
func ReadAnything(t *testing.T, stdout []byte) {
	r := &reader{}
	for line := range bytes.Lines(stdout) {
		entries, _ := r.Line(line)
		for _, e := range entries {
			for _, s := range []string{e.Text, e.Tool, e.Call, e.Conversation} {
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
