package agenttest

import (
	"bytes"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/process"
)

// ReadsAnything fuzzes the driver's reader, starting with its recordings and odd, and checks that every entry is fit for people to read.
func (d Driver) ReadsAnything(f *testing.F, odd string) {
	for _, name := range modeltest.Cases(f, d.Name) {
		f.Add(modeltest.Recorded(f, d.Name, name).Stdout)
	}
	f.Add([]byte(odd))
	f.Fuzz(func(t *testing.T, stdout []byte) { reads(t, d.Reader(), stdout) })
}

// TalksAnything does the same with a program that may ask. Every other question is denied.
func (d Driver) TalksAnything(f *testing.F, streams ...string) {
	for _, stream := range streams {
		f.Add([]byte(stream))
	}
	f.Fuzz(func(t *testing.T, stdout []byte) { reads(t, &answered{Dialogue: d.Dialogue()}, stdout) })
}

// answered is a Dialogue whose every question is answered at once.
type answered struct {
	agent.Dialogue
	asked int
}

// Line implements agent.Reader.
func (a *answered) Line(line []byte) (entries []agent.Entry, keep bool) {
	entries, keep = a.Dialogue.Line(line)
	for turn := a.Turn(); len(turn.Ask) > 0; turn = a.Turn() {
		for _, q := range turn.Ask {
			answer := agent.Answer{Verdict: agent.Denied, Text: "no"}
			if a.asked++; a.asked%2 == 0 {
				answer = agent.Answer{Verdict: agent.Allowed}
			}
			a.Answered(q, answer)
		}
	}
	return entries, keep
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
