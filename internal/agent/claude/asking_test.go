package claude_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/agent/claude"
	"signalbox/internal/process"
)

// playing prints a stream, and waits at each line that asks until it is answered.
type playing struct {
	stream []byte
	heard  []string
}

func (p *playing) Exec(_ context.Context, c process.Command) (process.Result, error) {
	in := bufio.NewReader(c.Stdin)
	end := process.Result{Started: agenttest.Started, Duration: time.Second, Ending: process.Exited}
	for line := range bytes.Lines(p.stream) {
		if _, err := c.Stdout.Write(line); err != nil {
			return end, err
		}
		if bytes.HasPrefix(line, []byte(`{"type":"control_request"`)) {
			said, err := in.ReadString('\n')
			if err != nil {
				return end, err
			}
			if strings.HasPrefix(said, `{"message"`) { // the prompt
				said, _ = in.ReadString('\n')
			}
			p.heard = append(p.heard, said)
		}
	}
	_, err := io.Copy(io.Discard, in) // its input ends when it has said its last
	return end, err
}

// plays runs the driver with a stream and the answers to what is asked in it.
func plays(t *testing.T, stream []byte, answers ...agent.Answer) (result agent.Result, asked []agent.Question, heard []string) {
	t.Helper()
	program := &playing{stream: stream}
	task := agent.Task{Role: "implementer", Prompt: "Write the file.", Dir: "/work", Log: io.Discard, OutputLimit: 8 << 20,
		Ask: func(_ context.Context, q agent.Question) (agent.Answer, error) {
			asked = append(asked, q)
			return answers[len(asked)-1], nil
		}}
	result, err := driver.Make(t, agent.Settings{Name: "a", Permissions: agent.Ask}).Run(t.Context(), task, program)
	if err != nil {
		t.Fatal(err)
	}
	return result, asked, program.heard
}

func TestWhatTheProgramAskedIsAnsweredInItsWords(t *testing.T) {
	t.Parallel()
	stream, err := os.ReadFile("testdata/asked.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	result, asked, heard := plays(t, stream, agent.Answer{Verdict: agent.Denied, Text: "Not now."}, agent.Answer{Verdict: agent.Allowed},
		agent.Answer{Verdict: agent.Chosen, Option: 1}, agent.Answer{Verdict: agent.Replied, Text: "Zoe"})
	if result.Failure != nil || result.Answer != "It is written." || !slices.Equal(result.Denied, []string{"Bash"}) {
		t.Errorf("Failure = %+v, answer %q, denied %q", result.Failure, result.Answer, result.Denied)
	}
	wants := []agent.Question{
		{ID: "1", Kind: agent.Permission, Tool: "Bash", Subject: "go vet ./...", Text: "go vet ./..."},
		{ID: "2", Kind: agent.Permission, Tool: "Write", Subject: "hello.txt", Text: `{"file_path":"/work/hello.txt","content":"hello\n"}`},
		{ID: "3", Kind: agent.Choice, Tool: "AskUserQuestion", Text: "Which colour?", Options: []string{"Red: like blood", "Blue: like the sky"}},
		{ID: "4", Kind: agent.Choice, Tool: "AskUserQuestion", Text: "Which name?", Options: []string{"Ann", "Ben"}},
	}
	for i, want := range wants {
		if got := asked[i]; got.ID != want.ID || got.Kind != want.Kind || got.Tool != want.Tool || got.Subject != want.Subject || got.Text != want.Text ||
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

func TestWhatIsNotKnownIsRefusedAndNothingWaitsForIt(t *testing.T) {
	t.Parallel()
	result, asked, heard := plays(t, []byte(request("r1", "elicitation", "", nil)+protocol.Answer("done")))
	if result.Failure != nil || len(asked) > 0 || len(heard) != 1 || !strings.Contains(heard[0], `"subtype":"error"`) {
		t.Errorf("Failure = %+v, asked %+v, heard %q", result.Failure, asked, heard)
	}
}

func TestAQuestionThatIsWithdrawnEnds(t *testing.T) {
	t.Parallel()
	r := request("r1", "can_use_tool", "Bash", map[string]string{"command": "ls"})
	stream := strings.Replace(r, `{"type"`, `{ "type"`, 1) // the player does not wait for an answer
	ended := make(chan struct{})
	program := &withdrawing{stream: stream, asked: make(chan struct{}), ended: ended}
	task := agent.Task{Role: "implementer", Log: io.Discard, OutputLimit: 1 << 20, Ask: func(ctx context.Context, _ agent.Question) (agent.Answer, error) {
		close(program.asked)
		<-ctx.Done()
		close(ended)
		return agent.Answer{}, ctx.Err()
	}}
	result, err := driver.Make(t, agent.Settings{Name: "a", Permissions: agent.Ask}).Run(t.Context(), task, program)
	if err != nil || result.Failure != nil || result.Answer != "done" {
		t.Errorf("%+v, %v", result, err)
	}
}

// withdrawing asks, thinks better of it, and ends once nobody is asked any more.
type withdrawing struct {
	stream       string
	asked, ended chan struct{}
}

func (w *withdrawing) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	end := process.Result{Started: agenttest.Started, Duration: time.Second, Ending: process.Exited}
	_, _ = io.WriteString(c.Stdout, w.stream)
	<-w.asked
	_, _ = io.WriteString(c.Stdout, `{"type":"control_cancel_request","request_id":"r1"}`+"\n")
	select {
	case <-w.ended:
	case <-time.After(10 * time.Second):
		end.Ending = process.TimedOut
		return end, nil
	}
	_, err := io.WriteString(c.Stdout, protocol.Answer("done"))
	return end, err
}

func TestAQuestionIsShownCleanAndBounded(t *testing.T) {
	t.Parallel()
	hostile := "echo \x1b[2J\x1b]0;title\x07\u202e\r\nrm -rf ~ " + strings.Repeat("x", 1<<20)
	options := []any{map[string]string{"label": "Yes\x1b[31m\n", "description": strings.Repeat("y", 1<<16)}}
	for range 40 {
		options = append(options, map[string]string{"label": "No"})
	}
	stream := request("r\x1b1", "can_use_tool", "Ba\x1bsh\n", map[string]string{"command": hostile}) +
		request("r2", "can_use_tool", "AskUserQuestion", map[string]any{"questions": []any{map[string]any{"question": "Really?", "options": options}}}) +
		protocol.Answer("done")
	result, asked, heard := plays(t, []byte(stream), agent.Answer{Verdict: agent.Allowed}, agent.Answer{Verdict: agent.Chosen, Option: 0})
	if result.Failure != nil || len(asked) != 2 {
		t.Fatalf("Failure = %+v, %d questions", result.Failure, len(asked))
	}
	for _, q := range asked {
		for _, s := range append([]string{q.Tool, q.Text, q.Subject}, q.Options...) {
			if s != agent.Text(s) || !q.Altered || len(q.Options) > agent.MaxOptions {
				t.Errorf("%.200q (altered %v)", s, q.Altered)
			}
		}
	}
	if !strings.Contains(heard[0], quoted(hostile)) || !strings.Contains(heard[1], quoted("Yes\x1b[31m\n")) {
		t.Error("what it is answered is not what it asked for")
	}
}

func FuzzAsking(f *testing.F) {
	f.Add([]byte(request("r1", "can_use_tool", "Bash", map[string]string{"command": "ls"}) + request("r1", "can_use_tool", "AskUserQuestion", 7)))
	f.Add([]byte(request("", "can_use_tool", "AskUserQuestion", map[string]any{"questions": []any{}})))
	f.Add([]byte(request("", "can_use_tool", "AskUserQuestion", map[string]any{"questions": []any{map[string]any{"options": []any{1}}, 2}})))
	f.Fuzz(func(t *testing.T, stream []byte) {
		d := claude.NewAsking()
		for line := range bytes.Lines(stream) {
			d.Line(line)
			for turn := d.Turn(); len(turn.Ask) > 0; turn = d.Turn() {
				for _, q := range turn.Ask {
					d.Answered(q, agent.Answer{Verdict: agent.Allowed})
				}
			}
		}
	})
}

func TestWhoAsksMoreThanAnybodyCanAnswerIsEnded(t *testing.T) {
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

// pestering prints a stream, and ends when it is told to.
type pestering string

func (p pestering) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	if _, err := io.WriteString(c.Stdout, string(p)); err != nil {
		return process.Result{}, err
	}
	<-ctx.Done()
	return process.Result{Started: agenttest.Started, Duration: time.Second, Ending: process.Stopped}, nil
}
