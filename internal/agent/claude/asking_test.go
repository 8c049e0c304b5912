package claude_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/process"
)

// playing prints a stream, and waits at each line that asks until it is answered.
type playing struct {
	stream string
	heard  []string
}

func (p *playing) Exec(_ context.Context, c process.Command) (process.Result, error) {
	in := bufio.NewReader(c.Stdin)
	for line := range strings.Lines(p.stream) {
		if _, err := io.WriteString(c.Stdout, line); err != nil {
			return process.Result{}, err
		}
		if strings.HasPrefix(line, `{"type":"control_request"`) {
			said, err := in.ReadString('\n')
			if err != nil {
				return process.Result{}, err
			}
			if strings.HasPrefix(said, `{"message"`) { // the prompt
				said, _ = in.ReadString('\n')
			}
			p.heard = append(p.heard, said)
		}
	}
	_, err := io.Copy(io.Discard, in) // its input ends when it has said its last
	return process.Result{}, err
}

// plays runs the driver with a stream and the answers to what is asked in it.
func plays(t *testing.T, stream string, answers ...agent.Answer) (talk agenttest.Talk, heard []string) {
	t.Helper()
	program := &playing{stream: stream}
	return driver.Talk(t, program, agent.Task{}, answers...), program.heard
}

func TestEachQuestionIsAnsweredInTheProgramsProtocol(t *testing.T) {
	t.Parallel()
	result, heard := plays(t, agenttest.RecordedTalk(t, "asked"), agent.Answer{Verdict: agent.Denied, Text: "Not now."}, agent.Answer{Verdict: agent.Allowed},
		agent.Answer{Verdict: agent.Chosen, Option: 1}, agent.Answer{Verdict: agent.Replied, Text: "Zoe"})
	if result.Failure != nil || result.Answer != "It is written." || !slices.Equal(result.Denied, []string{"Bash"}) || len(result.Asked) != 4 {
		t.Fatalf("Failure = %+v, answer %q, denied %q, asked %+v", result.Failure, result.Answer, result.Denied, result.Asked)
	}
	wants := []agent.Question{
		{ID: "1", Kind: agent.Permission, Tool: "Bash", Subject: "go vet ./...", Text: "go vet ./..."},
		{ID: "2", Kind: agent.Permission, Tool: "Write", Subject: "hello.txt", Text: `{"file_path":"/work/hello.txt","content":"hello\n"}`},
		{ID: "3", Kind: agent.Choice, Tool: "AskUserQuestion", Text: "Which colour?", Options: []string{"Red: like blood", "Blue: like the sky"}},
		{ID: "4", Kind: agent.Choice, Tool: "AskUserQuestion", Text: "Which name?", Options: []string{"Ann", "Ben"}},
	}
	for i, want := range wants {
		if got := result.Asked[i]; got.ID != want.ID || got.Kind != want.Kind || got.Tool != want.Tool || got.Subject != want.Subject || got.Text != want.Text ||
			!slices.Equal(got.Options, want.Options) || got.Altered {
			t.Errorf("question %d is %+v, want %+v", i, got, want)
		}
	}
	for i, want := range []string{`"behavior":"deny","message":"Not now."`, `"updatedInput":{"file_path":"/work/hello.txt"`, `"answers":{"Which colour?":"Blue","Which name?":"Zoe"}`} {
		if !strings.Contains(heard[i], want) {
			t.Errorf("it heard %q, want %q", heard[i], want)
		}
	}
}

// request is a line by which it asks.
func request(id, subtype, tool string, input any) string {
	return `{"type":"control_request","request_id":` + quoted(id) + `,"request":` + strings.TrimSpace(agenttest.Line(map[string]any{
		"subtype": subtype, "tool_name": tool, "input": input})) + "}\n"
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestUnknownRequestsAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	result, heard := plays(t, request("r1", "elicitation", "", nil)+protocol.Answer("done"))
	if result.Failure != nil || len(result.Asked) > 0 || len(heard) != 1 || !strings.Contains(heard[0], `"subtype":"error"`) {
		t.Errorf("Failure = %+v, asked %+v, heard %q", result.Failure, result.Asked, heard)
	}
}

func TestAQuestionThatIsWithdrawnEnds(t *testing.T) {
	t.Parallel()
	driver.Withdraws(t, request("r1", "can_use_tool", "Bash", map[string]string{"command": "ls"}),
		`{"type":"control_cancel_request","request_id":"r1"}`+"\n", protocol.Answer("done"))
}

func TestAQuestionIsShownCleanAndBounded(t *testing.T) {
	t.Parallel()
	inquiry := map[string]any{"question": "Really?", "options": agenttest.HostileOptions()}
	stream := request("r\x1b1", "can_use_tool", "Ba\x1bsh\n", map[string]string{"command": agenttest.Hostile}) +
		request("r2", "can_use_tool", "AskUserQuestion", map[string]any{"questions": []any{inquiry}}) + protocol.Answer("done")
	result, heard := plays(t, stream, agent.Answer{Verdict: agent.Allowed}, agent.Answer{Verdict: agent.Chosen, Option: 0})
	if result.Failure != nil || len(result.Asked) != 2 {
		t.Fatalf("Failure = %+v, %d questions", result.Failure, len(result.Asked))
	}
	agenttest.CheckShown(t, result.Asked)
	if !strings.Contains(heard[0], quoted(agenttest.Hostile)) || !strings.Contains(heard[1], quoted("Yes\x1b[31m\n")) {
		t.Error("what it is answered is not what it asked for")
	}
}

func FuzzAsking(f *testing.F) {
	driver.TalksAnything(f, agenttest.RecordedTalk(f, "asked"),
		request("r1", "can_use_tool", "Bash", map[string]string{"command": "ls"})+request("r1", "can_use_tool", "AskUserQuestion", 7),
		request("", "can_use_tool", "AskUserQuestion", map[string]any{"questions": []any{}}),
		request("", "can_use_tool", "AskUserQuestion", map[string]any{"questions": []any{map[string]any{"options": []any{1}}, 2}}))
}

func TestAnAgentWithTooManyQuestionsIsEnded(t *testing.T) {
	t.Parallel()
	var stream strings.Builder
	for n := range 200 {
		stream.WriteString(strings.Replace(request(strings.Repeat("r", n+1), "can_use_tool", "Bash", map[string]string{"command": "ls"}), `{"type"`, `{ "type"`, 1))
	}
	task := agent.Task{Role: "implementer", Log: io.Discard, OutputLimit: 8 << 20, Ask: func(ctx context.Context, _ agent.Question) (agent.Answer, error) {
		<-ctx.Done()
		return agent.Answer{}, ctx.Err()
	}}
	_, err := driver.Make(t, agent.Settings{Name: "a", Permissions: agent.Ask}).Run(t.Context(), task, pestering(stream.String()))
	if !errors.Is(err, agent.ErrPesters) {
		t.Errorf("Run = %v", err)
	}
}

// pestering prints a stream, and ends when it is asked to.
type pestering string

func (p pestering) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	if _, err := io.WriteString(c.Stdout, string(p)); err != nil {
		return process.Result{}, err
	}
	<-ctx.Done()
	return process.Result{Started: agenttest.Started, Duration: time.Second, Ending: process.Stopped}, nil
}
