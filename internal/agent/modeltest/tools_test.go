package modeltest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/agent/modeltest"
)

// shells and editors are tools as agents offer them, cut down to what matters.
var offers = map[string]string{
	"claude":   `{"name":"Bash","input_schema":{"properties":{"command":{"type":"string"}},"required":["command"]}},{"name":"Read","input_schema":{"properties":{"file_path":{"type":"string"}},"required":["file_path"]}},{"name":"Write","input_schema":{"properties":{"file_path":{"type":"string"},"content":{"type":"string"}},"required":["file_path","content"]}}`,
	"codex":    `{"name":"exec_command","input_schema":{"properties":{"cmd":{"type":"string"},"yield_time_ms":{"type":"number"}},"required":["cmd"]}}`,
	"opencode": `{"name":"bash","input_schema":{"properties":{"command":{"type":"string"},"description":{"type":"string"}},"required":["command","description"]}},{"name":"read","input_schema":{"properties":{"filePath":{"type":"string"}}}}`,
	"list":     `{"name":"shell","input_schema":{"properties":{"command":{"type":"array"},"login":{"type":"boolean"},"wait":{"type":"integer"},"mode":{"enum":["fast","slow"]}},"required":["command","login","wait","mode"]}}`,
	"strange":  `{"name":"bash","input_schema":{"properties":{"script":{"type":"string"}}}}`,
	"hard":     `{"name":"bash","input_schema":{"properties":{"command":{"type":"string"},"env":{"type":"object"}},"required":["env"]}}`,
}

func TestACallIsPutIntoTheWordsOfTheToolThatIsOffered(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		agent, name, arguments string
		call                   modeltest.Call
	}{
		{"claude", "Write", `{"content":"x","file_path":"/work/a"}`, modeltest.Write("a", "x")},
		{"claude", "Read", `{"file_path":"/work/a"}`, modeltest.Read("a")},
		{"claude", "Bash", `{"command":"make"}`, modeltest.Run("make")},
		{"codex", "exec_command", `{"cmd":"make"}`, modeltest.Run("make")},
		{"codex", "exec_command", `{"cmd":"cat '/work/it'\\''s'"}`, modeltest.Read("it's")},
		{"opencode", "bash", `{"command":"make","description":"as scripted"}`, modeltest.Run("make")},
		{"opencode", "read", `{"filePath":"/etc/a"}`, modeltest.Read("/etc/a")},
		{"list", "shell", `{"command":["bash","-c","make"],"login":false,"mode":"fast","wait":1}`, modeltest.Run("make")},
		{"claude", "mcp__x__y", `{"z":1}`, modeltest.Tool("mcp__x__y", `{"z":1}`)},
	} {
		name, arguments := called(t, test.agent, test.call)
		if name != test.name || arguments != test.arguments {
			t.Errorf("%s: %s %s, want %s %s", test.agent, name, arguments, test.name, test.arguments)
		}
	}
}

// called asks as an agent with those tools.
func called(t *testing.T, agent string, call modeltest.Call) (name, arguments string) {
	t.Helper()
	server := modeltest.Start(t, modeltest.Config{Script: modeltest.Script{Dir: "/work", Turns: []modeltest.Turn{modeltest.Do(call)}}})
	body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"Go."}],"tools":[%s]}`, offers[agent])
	heard := clients[0].hear(t, post(t, server.URL+"/v1/messages", body, plain), false)
	return heard.name, heard.arguments
}

func TestAToolThatCannotBeCalledIsAProblem(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{"strange": `none of its arguments is called one of ["command"`, "hard": `it requires "env" of type object`} {
		server := modeltest.Start(t, modeltest.Config{Script: modeltest.Script{Turns: []modeltest.Turn{modeltest.Do(modeltest.Run("make"))}}})
		post(t, server.URL+"/v1/messages", fmt.Sprintf(`{"messages":[{"role":"user","content":"Go."}],"tools":[%s]}`, offers[agent]), plain)
		if got := server.Unexpected(); len(got) != 1 || !strings.Contains(got[0].Problem, want) {
			t.Errorf("%s: %+v, want %q", agent, got, want)
		}
	}
}

func TestAnAgentWithAShellAloneWritesFilesByIt(t *testing.T) {
	t.Parallel()
	path, content := filepath.Join(t.TempDir(), "new folder", "it's"), "a 'quoted' $HOME\n\\n %s"
	_, arguments := called(t, "codex", modeltest.Write(path, content))
	var call struct {
		Command string `json:"cmd"`
	}
	if err := json.Unmarshal([]byte(arguments), &call); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "bash", "-c", call.Command).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", call.Command, err, out)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != content {
		t.Errorf("the file holds %q, %v", got, err)
	}
}

func TestAPatchIsWrittenForAToolThatTakesPlainText(t *testing.T) {
	t.Parallel()
	server := modeltest.Start(t, modeltest.Config{Script: modeltest.Script{Dir: "/work", Turns: []modeltest.Turn{modeltest.Do(modeltest.Write("a", "x\ny\n"))}}})
	body := `{"stream":%t,"input":"Go.","tools":[{"type":"custom","name":"apply_patch","format":{"type":"grammar"}}]}`
	c := clients[1]
	c.whole = spoken{text: "output.0.type", name: "output.0.name", arguments: "output.0.input"}
	c.event = spoken{"", "response.output_item.done?item.name", "response.custom_tool_call_input.delta?delta"}
	for _, stream := range both {
		heard := c.hear(t, post(t, server.URL+"/v1/responses", fmt.Sprintf(body, stream), plain), stream)
		if want := "*** Begin Patch\n*** Add File: /work/a\n+x\n+y\n*** End Patch\n"; heard.name != "apply_patch" || heard.arguments != want {
			t.Errorf("stream=%t: %+v, want %q", stream, heard, want)
		}
	}
}
