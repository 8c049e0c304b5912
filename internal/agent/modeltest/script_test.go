package modeltest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/agent/modeltest"
)

// both is whether an answer is streamed.
var both = []bool{false, true}

func each(t *testing.T, test func(t *testing.T, c client, stream bool)) {
	for _, c := range clients {
		for _, stream := range both {
			t.Run(fmt.Sprintf("%s/stream=%t", c.api, stream), func(t *testing.T) {
				t.Parallel()
				test(t, c, stream)
			})
		}
	}
}

func TestTheResultsInAConversationSayWhichTurnItIsAt(t *testing.T) {
	t.Parallel()
	server := modeltest.Start(t, modeltest.Config{Script: modeltest.Script{Dir: "/work", Turns: []modeltest.Turn{
		modeltest.Do(modeltest.Write("a.txt", "A\n")),
		modeltest.Do(modeltest.Write("/abs/b.txt", "B's ü\n")),
		modeltest.Say("Both files are written; nothing is left to do, schön."),
	}}})
	each(t, func(t *testing.T, c client, stream bool) {
		for i, want := range []string{"/work/a.txt", "/abs/b.txt"} {
			heard := c.hear(t, c.ask(t, server.URL, "Write two files.", make([]string, i), stream), stream)
			if !strings.HasPrefix(strings.ToLower(heard.name), "write") || heard.text != "" {
				t.Errorf("turn %d = %+v, want a call", i, heard)
			}
			var arguments map[string]string
			if err := json.Unmarshal([]byte(heard.arguments), &arguments); err != nil {
				t.Fatalf("turn %d: arguments %q: %v", i, heard.arguments, err)
			}
			if path := arguments["file_path"] + arguments["filePath"] + arguments["path"]; path != want || arguments["description"] == "" {
				t.Errorf("turn %d: arguments %v, want path %s and the description that is required", i, arguments, want)
			}
		}
		heard := c.hear(t, c.ask(t, server.URL, "Write two files.", []string{"ok", "ok"}, stream), stream)
		if heard.text != "Both files are written; nothing is left to do, schön." || heard.name != "" {
			t.Errorf("last turn = %+v", heard)
		}
	})
	t.Cleanup(func() {
		if found := server.Unexpected(); len(found) > 0 {
			t.Errorf("unexpected: %+v", found)
		}
	})
}

func TestANewPromptInTheSameConversationBeginsTheScriptAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c client, stream bool) {
		server := modeltest.Start(t, modeltest.Config{Script: modeltest.Script{Turns: []modeltest.Turn{modeltest.Do(modeltest.Write("a", "A"))}}})
		conversation := c.messages("Write it.", []string{"ok"}) + "," + c.messages("Write it again.", nil)
		if heard := c.hear(t, c.send(t, server.URL, conversation, stream), stream); heard.name == "" {
			t.Errorf("the model said %+v, want a call", heard)
		}
		if got := server.Answers()[0].Conversation; got.Prompt != "Write it again." || len(got.Results) != 0 {
			t.Errorf("Conversation = %+v", got)
		}
	})
}

func TestEveryAPIReadsAConversationAlike(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c client, stream bool) {
		server := modeltest.Start(t, modeltest.Config{})
		c.hear(t, c.ask(t, server.URL+"/session-7", "Do it.", []string{"first", "second"}, stream), stream)
		got := server.Answers()[0]
		conversation := got.Conversation
		if conversation.API != c.api || conversation.Model != "m" || conversation.System != "Be good." ||
			conversation.Prompt != "Do it." || conversation.Stream != stream || len(conversation.Tools) != 1 {
			t.Errorf("Conversation = %+v", conversation)
		}
		if len(conversation.Results) != 2 || !strings.Contains(conversation.Results[0], "first") || !strings.Contains(conversation.Results[1], "second") {
			t.Errorf("Results = %q", conversation.Results)
		}
		if got.Key != "key-of-"+string(c.api) || got.Size == 0 || len(got.Body) != got.Size || !strings.HasPrefix(got.Path, "/session-7/v1") {
			t.Errorf("Exchange = %+v", got)
		}
		if !slices.Contains(got.Headers, "Content-Length") || got.Status != http.StatusOK || got.End != modeltest.Answered {
			t.Errorf("Exchange = %+v", got)
		}
	})
}

func TestAScriptIsChosenByThePrompt(t *testing.T) {
	t.Parallel()
	type plan struct {
		Title string `json:"title"`
	}
	server := modeltest.Start(t, modeltest.Config{Choose: func(c modeltest.Conversation) modeltest.Script {
		if strings.Contains(c.Prompt, "planner") {
			return modeltest.Script{Turns: []modeltest.Turn{modeltest.SayJSON(plan{"A plan"})}}
		}
		return modeltest.Script{Turns: []modeltest.Turn{modeltest.Say("I am no planner.")}}
	}})
	each(t, func(t *testing.T, c client, stream bool) {
		if heard := c.hear(t, c.ask(t, server.URL, "You are the planner.", nil, stream), stream); heard.text != `{"title":"A plan"}` {
			t.Errorf("the planner is told %q", heard.text)
		}
		if heard := c.hear(t, c.ask(t, server.URL, "You review.", nil, stream), stream); heard.text != "I am no planner." {
			t.Errorf("the reviewer is told %q", heard.text)
		}
	})
}

func TestTextAndSeveralCallsAreOneTurn(t *testing.T) {
	t.Parallel()
	turn := modeltest.Turn{Say: "Two at once.", Calls: []modeltest.Call{modeltest.Write("a", "A"), modeltest.Write("b", "B")}}
	server := modeltest.Start(t, modeltest.Config{Script: modeltest.Script{Dir: "/w", Turns: []modeltest.Turn{turn}}})
	each(t, func(t *testing.T, c client, stream bool) {
		for results, want := range []string{"Two at once.", "Two at once.", modeltest.DefaultText} {
			heard := c.hear(t, c.ask(t, server.URL, "Go.", make([]string, results), stream), stream)
			if heard.text != want {
				t.Errorf("after %d results: %+v, want %q", results, heard, want)
			}
		}
	})
}

func TestAHugeAnswerArrivesWhole(t *testing.T) {
	t.Parallel()
	huge := "x" + strings.Repeat("ä", 1<<20)
	server := modeltest.Start(t, modeltest.Config{Script: modeltest.Script{Turns: []modeltest.Turn{modeltest.Say(huge)}}})
	for _, c := range clients {
		heard := c.hear(t, c.ask(t, server.URL, "Say much.", nil, true), true)
		if heard.text != huge || heard.events > 300 {
			t.Errorf("%s: %d bytes in %d events, want %d bytes", c.api, len(heard.text), heard.events, len(huge))
		}
	}
}

func TestARequestWithoutToolsGetsATitle(t *testing.T) {
	t.Parallel()
	server := modeltest.Start(t, modeltest.Config{Script: modeltest.Script{Turns: []modeltest.Turn{modeltest.Do(modeltest.Write("a", "A"))}}})
	response := post(t, server.URL+"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"Title?"}]}`, func(http.Header) {})
	if heard := clients[2].hear(t, response, false); heard.text != "A title" || heard.name != "" {
		t.Errorf("answer = %+v", heard)
	}
}
