package codex

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// ReadAnything reads what nobody would print, and holds what is told of it to what people can read.
func ReadAnything(t *testing.T, stdout []byte) {
	r := newReader(nil)
	for line := range bytes.Lines(stdout) {
		entries, _ := r.Line(line)
		for _, e := range entries {
			for _, s := range []string{e.Text, e.Tool, e.Call, e.Model, e.Conversation} {
				if utf8.RuneCountInString(s) > agent.EntryRunes || strings.ContainsFunc(s, unreadable) {
					t.Errorf("entry %+v", e)
				}
			}
		}
	}
	ending := r.End(process.Result{Ending: process.Exited}, "")
	if ending.Whole && ending.Failure != nil {
		t.Errorf("%+v", ending)
	}
	if c := ending.Conversation; c != nil && !agent.ValidConversation(c.ID) {
		t.Errorf("Conversation = %+v", c)
	}
}

func unreadable(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }
