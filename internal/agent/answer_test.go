package agent_test

import (
	"errors"
	"strings"
	"testing"

	"signalbox/internal/agent"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	const fence = "```"
	for _, test := range []struct {
		name, answer, want string
		err                error
	}{
		{name: "the whole answer is the object", answer: " {\"a\": {\"b\": 1}}\n", want: `{"a": {"b": 1}}`},
		{name: "the whole answer may be the empty object", answer: "{}", want: "{}"},
		{name: "a fenced block among prose", answer: "Here:\n" + fence + "json\n{\"a\":1}\n" + fence + "\nDone.", want: `{"a":1}`},
		{name: "the last of two fenced blocks", answer: fence + "json\n{\"a\":1}\n" + fence + "\n" + fence + "JSON \n{\"a\":2}\n" + fence, want: `{"a":2}`},
		{name: "a fence that is never closed", answer: "x\n" + fence + "json\n{\"a\":1}\n", want: `{"a":1}`},
		{name: "a block of another language is prose", answer: fence + "go\nstruct{}{}\n" + fence + "\n{\"a\":1}", want: `{"a":1}`},
		{name: "a fenced block wins over a later object", answer: fence + "json\n{\"a\":1}\n" + fence + "\n{\"a\":2}", want: `{"a":1}`},
		{name: "the last object among prose", answer: `first {"a":1}, then {"a":2}. It's done with struct{}.`, want: `{"a":2}`},
		{name: "braces and quotes in strings do not count", answer: `so: {"a":"}{\"}"} end`, want: `{"a":"}{\"}"}`},
		{name: "a brace in prose is not an object", answer: `use { or } as in {prompt}: {"a":1}`, want: `{"a":1}`},
		{name: "two documents: the last", answer: "{\"a\":1}\n{\"a\":2}", want: `{"a":2}`},
		{name: "nothing but prose", answer: "I am done.", err: agent.ErrNoJSON},
		{name: "an empty answer", answer: "", err: agent.ErrNoJSON},
		{name: "an array is no object", answer: `[1, 2]`, err: agent.ErrNoJSON},
		{name: "an empty fenced block is none", answer: fence + "json\n" + fence, err: agent.ErrNoJSON},
		{name: "an object cut off is broken, not its inner one", answer: `{"steps":[{"findings":[]},{"x`, err: agent.ErrBrokenJSON},
		{name: "an example does not stand in for a broken answer", answer: `like {"findings":[]}: {"findings":[1,],}`, err: agent.ErrBrokenJSON},
		{name: "a broken fenced block is not passed over", answer: "{\"a\":1}\n" + fence + "json\n{\"a\":\n" + fence, err: agent.ErrBrokenJSON},
		{name: "a fenced array is broken", answer: fence + "json\n[1]\n" + fence, err: agent.ErrBrokenJSON},
		{name: "nesting without end", answer: strings.Repeat(`{"a":`, 20_000), err: agent.ErrBrokenJSON},
		{name: "too long to look at", answer: `{"a":"` + strings.Repeat("x", agent.MaxAnswer) + `"}`, err: agent.ErrBrokenJSON},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := agent.JSON(test.answer)
			if !errors.Is(err, test.err) || string(got) != test.want {
				t.Errorf("JSON = %q, %v; want %q, %v", got, err, test.want, test.err)
			}
		})
	}
}

func FuzzJSON(f *testing.F) {
	f.Add("```json\n{\"a\":\"\\\\\"}\n```")
	f.Add(`{"a":"}{\"}"} end {`)
	f.Fuzz(func(t *testing.T, answer string) {
		got, err := agent.JSON(answer)
		if err != nil {
			return
		}
		if again, err := agent.JSON(string(got)); err != nil || string(again) != string(got) {
			t.Errorf("JSON(%q) = %q, of which JSON = %q, %v", answer, got, again, err)
		}
	})
}
