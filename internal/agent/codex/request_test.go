package codex_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/agent/codex"
)

func file(path, kind, to string) map[string]any {
	return map[string]any{"path": path, "kind": map[string]any{"type": kind, "move_path": to}, "diff": "+x\n"}
}

// wantsPatch returns a patch that is started and asked for.
func wantsPatch(id int, changes ...any) string {
	return tells("item/started", map[string]any{"item": map[string]any{"type": "fileChange", "id": "c1", "changes": changes}}) +
		wants("item/fileChange/requestApproval", id, map[string]any{"itemId": "c1"})
}

func wantsTool(id int, kind string) string {
	return wants("mcpServer/elicitation/request", id, map[string]any{"serverName": "jira", "mode": "form",
		"_meta": map[string]any{"codex_approval_kind": kind, "tool_name": "close", "tool_params": map[string]any{"n": 7}}})
}

// Each is asked for as it is written here, and altered where no policy may agree. The first of the
// questions is denied where denied says so.
func TestEachKindOfRequestIsAskedAboutByItsKind(t *testing.T) {
	t.Parallel()
	many := make([]any, 40)
	for i := range many {
		many[i] = file(fmt.Sprintf("/work/%d", i), "add", "")
	}
	for _, test := range []struct {
		name, stream string
		denied       bool
		asked        []string
		told         string
	}{
		{"a patch of several files", wantsPatch(0, file("/work/a", "add", ""), file("/work/b/c", "update", "/etc/d")), false,
			[]string{`file_change "a" "add a\n+x"`, `file_change "b/c" "update b/c\n+x"`, `file_change "/etc/d" "update b/c\n+x"`}, "accept"},
		{"one file of which is denied", wantsPatch(0, file("/work/a", "add", ""), file("/work/b", "delete", "")), true, []string{`file_change "a" "add a\n+x"`}, "decline"},
		{"more files than anybody is asked for", wantsPatch(0, many...), false, []string{"altered file_change"}, "accept"},
		{"a patch of which nothing is known", wants("item/fileChange/requestApproval", 0, map[string]any{"itemId": "c7"}), false, []string{`altered file_change "" ""`}, "accept"},
		{"a server's tool", wantsTool(0, "mcp_tool_call"), false, []string{`jira.close "" "{\"n\":7}"`}, "accept"},
		{"a server's tool, denied", wantsTool(0, "mcp_tool_call"), true, []string{`jira.close "" "{\"n\":7}"`}, "decline"},
		{"what a server wants to know", wantsTool(0, ""), false, nil, "decline"},
		{"the network", wants("item/commandExecution/requestApproval", 0, map[string]any{"networkApprovalContext": map[string]string{"host": "example.org", "protocol": "https"}}), false,
			[]string{`altered network "example.org" "https example.org"`}, "accept"},
		{"what is typed into a command", wants("item/commandExecution/requestApproval", 0, map[string]any{"kind": "writeStdin", "command": "bash"}), false,
			[]string{`altered command_execution "bash" "bash"`}, "accept"},
		{"a command with its reason", wants("item/commandExecution/requestApproval", 0, map[string]any{"kind": "command", "command": "/bin/sh -c 'make x'", "cwd": "/work/my dir", "reason": "It is harmless."}), false,
			[]string{`command_execution "cd 'my dir' && make x" "cd 'my dir' && make x\nIt is harmless."`}, "accept"},
		{"what nobody knows", wants("item/permissions/requestApproval", 0, map[string]any{}), false, nil, "error -32601"},
		{"a secret", wants("item/tool/requestUserInput", 0, map[string]any{"questions": []any{map[string]any{"id": "k", "question": "Which key?", "isSecret": true}}}), false, nil, ""},
		{"words", wants("item/tool/requestUserInput", 0, map[string]any{"questions": []any{map[string]any{"id": "k", "question": "Which name?"}}}), true, []string{`request_user_input "" "Which name?"`}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var answers []agent.Answer
			if test.denied {
				answers = []agent.Answer{{Verdict: agent.Denied}}
			}
			result, p := talk(t, opened+test.stream+endsTalk("x"), nil, answers...)
			if result.Failure != nil || len(result.Asked) != len(test.asked) || len(p.Requests("turn/steer")) > 0 {
				t.Fatalf("Failure = %+v, asked %+v", result.Failure, result.Asked)
			}
			for i, want := range test.asked {
				if got := shown(result.Asked[i]); !strings.HasPrefix(got, want) {
					t.Errorf("question %d is %s, want %s", i, got, want)
				}
			}
			if got := response(p.Response(0)); got != test.told {
				t.Errorf("it was told %q, want %q", got, test.told)
			}
			if slices.Contains(result.Denied, "jira.close") != (test.denied && strings.Contains(test.name, "server")) {
				t.Errorf("Denied = %q", result.Denied)
			}
		})
	}
}

func shown(q agent.Question) string {
	altered := ""
	if q.Altered {
		altered = "altered "
	}
	return altered + fmt.Sprintf("%s %q %q", q.Tool, q.Subject, q.Text)
}

func response(m message) string {
	if m.Error.Code != 0 {
		return fmt.Sprint("error ", m.Error.Code)
	}
	return m.Result.Decision + m.Result.Action
}

func TestAQuestionIsShownCleanAndBounded(t *testing.T) {
	t.Parallel()
	stream := wantsCommand(0, agenttest.Hostile) +
		wantsPatch(1, map[string]any{"path": "/work/\x1b[31m\u202eb", "kind": map[string]string{"type": "add"}, "diff": agenttest.Hostile}) +
		wants("item/tool/requestUserInput", 2, map[string]any{"questions": []any{map[string]any{"id": "a", "question": "Really?\u202e", "options": agenttest.HostileOptions()}}})
	allowed := agent.Answer{Verdict: agent.Allowed}
	result, p := talk(t, opened+stream+endsTalk("x"), nil, allowed, allowed, agent.Answer{Verdict: agent.Chosen, Option: 0})
	if result.Failure != nil || len(result.Asked) != 3 {
		t.Fatalf("Failure = %+v, %d questions", result.Failure, len(result.Asked))
	}
	agenttest.CheckShown(t, result.Asked)
	if got := p.Response(2).Result.Answers["a"].Answers; !slices.Equal(got, []string{"Yes\x1b[31m\n"}) {
		t.Errorf("it was answered %q, not in its own words", got)
	}
}

func TestAQuestionThatIsWithdrawnEnds(t *testing.T) {
	t.Parallel()
	driver.Withdraws(t, opened+wantsCommand(7, "ls"), tells("serverRequest/resolved", map[string]any{"requestId": 7}), endsTalk("done"))
}

func TestTheCommandIsTheShellsArgument(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		`/bin/bash -lc ls`:                                                 "ls",
		`/bin/bash -lc 'go test ./...'`:                                    "go test ./...",
		`/bin/sh -c "sh -c 'echo hello >hello.txt'"`:                       "sh -c 'echo hello >hello.txt'",
		"/bin/bash -lc 'echo $HOME `id` \"x\" '\"'y' \"'!z\n'\"\\\\ new\"": "echo $HOME `id` \"x\" 'y' !z\n\\ new",
		`/usr/bin/zsh -lc ''`:                                              "",

		// Uncertain commands are shown unchanged.
		`/work/bash -lc 'go test'`:        `/work/bash -lc 'go test'`,
		`bash -lc 'go test'`:              `bash -lc 'go test'`,
		`/bin/bash -lc 'go test' evil`:    `/bin/bash -lc 'go test' evil`,
		`/bin/bash -ic 'go test'`:         `/bin/bash -ic 'go test'`,
		`/bin/bash -lc 'go test' ; evil`:  `/bin/bash -lc 'go test' ; evil`,
		`/bin/bash -lc 'go test';evil`:    `/bin/bash -lc 'go test';evil`,
		`/bin/bash -lc go" test $(evil)"`: `/bin/bash -lc go" test $(evil)"`,
		`/bin/bash -lc "go \n test"`:      `/bin/bash -lc "go \n test"`,
		`/bin/bash -lc 'go test`:          `/bin/bash -lc 'go test`,
		"/bin/bash -lc 'go test'\nevil":   "/bin/bash -lc 'go test'\nevil",
		`go test ./...`:                   `go test ./...`,
		`/bin/bash -lc "\`:                `/bin/bash -lc "\`,
	} {
		if got := codex.Script(command); got != want {
			t.Errorf("of %q the script is %q, want %q", command, got, want)
		}
	}
}
