package acp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/acp"
	"signalbox/internal/agent/acp/acptest"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/process"
)

// dialect is one with nothing of its own: a tool's title is what it wants.
var dialect = acp.Dialect{
	Program: "Fake", Resume: "session/resume",
	Question: func(u acp.Use) agent.Question { return agent.Question{Subject: u.Title, Text: u.Title} },
	Input:    func(u acp.Use) string { return u.Title },
	Tool:     func(acp.Use) string { return "tool" },
	Spent:    func(json.RawMessage) agent.Usage { return agent.Usage{OutputTokens: 1} },
	Failure: func(p acp.Problem, _ process.Result) *agent.Failure {
		return agent.Fail(agent.Refused, "%s", p.Message)
	},
	Silent: func(process.Result, string) *agent.Failure { return nil },
}

// speaker is a driver of nothing but the protocol.
type speaker struct{ acp.Dialect }

func (speaker) Name() string                              { return "fake" }
func (speaker) Check(context.Context) (_ string, _ error) { return "", nil }
func (s speaker) Run(ctx context.Context, task agent.Task, exec process.Executor) (agent.Result, error) {
	talk := acp.New(s.Dialect, "m1", task)
	return agent.Program{Agent: "fake", Args: []string{"fake"}, Stdin: bytes.NewReader(talk.Begin()), Reader: talk}.Run(ctx, task, exec)
}

func driverOf(d acp.Dialect) agenttest.Driver {
	return agenttest.Driver{New: func(agent.Settings) (agent.Agent, error) { return speaker{d}, nil },
		Dialogue: func() agent.Dialogue { return opened() }}
}

var driver = driverOf(dialect)

// talk runs a program that prints a stream after a session was opened.
func talk(t *testing.T, stream string, answers ...agent.Answer) (agenttest.Talk, *acptest.Talking) {
	t.Helper()
	p := &acptest.Talking{Stream: acptest.Opens("s1") + stream}
	return driver.Talk(t, p, agent.Task{}, answers...), p
}

// opened is the reader of a talk whose session was opened, and that was prompted.
func opened() *acp.Talk {
	d := acp.New(dialect, "m1", agent.Task{Dir: "/work"})
	d.Begin()
	for line := range strings.Lines(acptest.Opens("s1")) {
		d.Line([]byte(line))
	}
	return d
}

// whole is the end of the first prompt, with its answer.
var whole = acptest.Says("m1", "done") + acptest.Ends(3, nil)

func command(title string) map[string]any { return map[string]any{"toolCallId": "c1", "title": title} }

func TestATalkEndsWithItsLastMessage(t *testing.T) {
	t.Parallel()
	got, p := talk(t, acptest.Says("m1", "I beg")+acptest.Says("m1", "in.")+
		acptest.Updates("tool_call", map[string]any{"toolCallId": "c1", "status": "in_progress", "title": "ls"})+
		acptest.Updates("tool_call_update", map[string]any{"toolCallId": "c1", "status": "completed", "rawOutput": map[string]any{"output": "a.go"}})+
		acptest.Says("m2", "do")+acptest.Says("m2", "ne")+acptest.Ends(3, nil))
	if got.Failure != nil || got.Answer != "done" || got.Conversation == nil || got.Conversation.ID != "s1" || got.Usage.OutputTokens != 1 {
		t.Errorf("%+v", got.Result)
	}
	if kinds := got.Kinds(); kinds != "begin message tool_call tool_result message usage end" || got.Entries[1].Text != "I begin." || got.Entries[3].Text != "a.go" {
		t.Errorf("entries %s: %+v", kinds, got.Entries)
	}
	if told := strings.Join(p.Methods(), " "); told != "initialize session/new session/prompt" || p.Requests("session/prompt")[0].Params.Session != "s1" {
		t.Errorf("it was told %s", told)
	}
}

func TestAConversationIsResumedByItsMethod(t *testing.T) {
	t.Parallel()
	p := &acptest.Talking{Stream: acptest.Responds(1, nil) + acptest.Responds(2, map[string]any{}) + whole}
	got := driver.Talk(t, p, agent.Task{Conversation: &agent.Conversation{ID: "s7"}})
	if asked := p.Requests("session/resume"); got.Failure != nil || got.Conversation.ID != "s7" || len(asked) != 1 || asked[0].Params.Session != "s7" {
		t.Errorf("%+v, told %+v", got.Result, p.Told)
	}
	p = &acptest.Talking{Stream: acptest.Opens("s1") + whole}
	if got = driver.Talk(t, p, agent.Task{Conversation: &agent.Conversation{ID: "--help"}}); got.Failure != nil || got.Conversation.ID != "s1" {
		t.Errorf("of what is no conversation's ID: %+v, told %+v", got.Result, p.Told)
	}
}

func TestATruncatedAnswerIsNoAnswer(t *testing.T) {
	t.Parallel()
	cut := dialect
	cut.Cut = func(_ agent.Usage, spoke bool) bool { return !spoke }
	tool := acptest.Updates("tool_call", map[string]any{"toolCallId": "c1", "title": "ls"})
	for stream, code := range map[string]agent.FailureCode{
		whole: "", tool + whole: "", acptest.Says("m1", "I beg") + tool + acptest.Ends(3, nil): agent.Unreachable, acptest.Ends(3, nil): agent.Unreachable,
	} {
		got := driverOf(cut).Talk(t, &acptest.Talking{Stream: acptest.Opens("s1") + stream}, agent.Task{})
		agenttest.CheckFailure(t, got.Result, code, "")
	}
}

func FuzzTalk(f *testing.F) {
	driver.TalksAnything(f, acptest.Requests(0, command("ls"))+whole, acptest.Fails(2, 1, "no", 7)+acptest.Ends(3, nil))
}
