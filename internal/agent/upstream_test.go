package agent_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/agent"
)

func TestSettingsWithCommentsAreRead(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	const text = "{ // for a person\n \"a\": \"x//y /* z */\", /* and\n more */ \"b\": [1, 2,], \"c\": \"\\\"//\",\n}"
	if err := os.WriteFile(filepath.Join(home, "settings.jsonc"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var got struct {
		A, C string
		B    []int
	}
	if err := (agent.Person{Home: home}).JSON("settings.jsonc", &got); err != nil || got.A != "x//y /* z */" || got.C != `"//` || !slices.Equal(got.B, []int{1, 2}) {
		t.Errorf("%+v, %v", got, err)
	}
	if err := (agent.Person{Home: home}).JSON("absent.json", &got); err != nil {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(filepath.Join(home, "broken.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (agent.Person{Home: home}).JSON("broken.json", &got); err == nil || !strings.Contains(err.Error(), "~/broken.json") {
		t.Errorf("a broken file: %v", err)
	}
}

func TestValuesThatSwitchAVariableOn(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"": false, "0": false, "false": false, "False": false, "1": true, "true": true, "yes": true} {
		if got := (agent.Person{Env: func(string) string { return value }}).On("X"); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
}

func TestHeadersAreRead(t *testing.T) {
	t.Parallel()
	if got := agent.Headers("X-Team: a b\nX-Key:secret\n\nnonsense"); !maps.Equal(got, map[string]string{"X-Team": "a b", "X-Key": "secret"}) {
		t.Errorf("%v", got)
	}
}
