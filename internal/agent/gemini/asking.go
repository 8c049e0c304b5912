package gemini

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/agent/acp"
	"signalbox/internal/lazy"
	"signalbox/internal/process"
)

// dialect is what "gemini --acp" says in its own way.
var dialect = acp.Dialect{
	Program: "Gemini CLI", Resume: "session/load", Retells: true,
	// The mode is the one that it is in.
	Settle: func(session string) (method string, params any) {
		return "session/set_mode", map[string]string{"sessionId": session, "modeId": "default"}
	},
	Question: question,
	Input:    func(u acp.Use) string { return question(u).Text },
	Tool:     tool,
	Spent:    spent,
	Failure:  asksInVain,
	Silent:   silent,
	// It also reports the end of its turn if the model's answer broke off, and then counts no usage for that answer. An answer that breaks off in
	// its middle after a tool can't be distinguished from a complete one.
	Cut: func(spent agent.Usage, spoke bool) bool { return spent == agent.Usage{} || !spoke },
}

// tool returns its own name of a tool, with which it begins the id of every call.
func tool(u acp.Use) string {
	if name, _, ok := strings.Cut(u.Call, "__"); ok {
		return name
	}
	return u.Kind
}

// question returns what it asks. It tells no tool's whole input: of a command there is the command and where
// it runs, of a file the change, and of all others a title, in which something may be missing.
func question(u acp.Use) agent.Question {
	parts := u.Parts()
	switch {
	case tool(u) == "run_shell_command":
		where := ""
		for _, part := range parts {
			where += part.Content.Text
		}
		command := commandIn(where, u.Title)
		return agent.Question{Subject: command, Text: command}
	case u.Kind == "edit" && len(parts) == 1 && parts[0].Path != "":
		path := agent.Below(u.Dir, parts[0].Path)
		// Show only the lines that differ.
		old, changed := strings.SplitAfter(parts[0].Old, "\n"), strings.SplitAfter(parts[0].New, "\n")
		for len(old) > 0 && len(changed) > 0 && old[0] == changed[0] {
			old, changed = old[1:], changed[1:]
		}
		for len(old) > 0 && len(changed) > 0 && old[len(old)-1] == changed[len(changed)-1] {
			old, changed = old[:len(old)-1], changed[:len(changed)-1]
		}
		var b strings.Builder
		write(&b, "-", old)
		write(&b, "+", changed)
		return agent.Question{Subject: path, Text: path + "\n" + b.String()}
	}
	return agent.Question{Subject: u.Title, Text: u.Title, Altered: true}
}

// elsewhere is how it tells that a command runs in another folder, where nothing can hide in its name.
var elsewhere = lazy.Pattern(`^\[in ([\w./-]+)\]$`)

// commandIn returns a command with where it runs. That is the agent's word: what looks otherwise than
// expected stays before the command as it is, where no pattern of a command takes it.
func commandIn(where, command string) string {
	if where == "" || strings.HasPrefix(where, "[current working directory ") {
		return command
	}
	if found := elsewhere().FindStringSubmatch(where); found != nil {
		return "cd " + found[1] + " && " + command
	}
	return where + " " + command
}

func write(b *strings.Builder, sign string, lines []string) {
	for _, line := range lines {
		if line != "" {
			b.WriteString(sign + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
}

// spent is without what it never tells, which is a cache.
func spent(result json.RawMessage) agent.Usage {
	var end struct {
		Meta struct {
			Quota struct {
				Tokens struct {
					Input  int64 `json:"input_tokens"`
					Output int64 `json:"output_tokens"`
				} `json:"token_count"`
			} `json:"quota"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(result, &end)
	return agent.Usage{InputTokens: end.Meta.Quota.Tokens.Input, OutputTokens: end.Meta.Quota.Tokens.Output}
}

// loginNeeded is its code for a login that it lacks.
const loginNeeded = -32000

// asksInVain returns why a prompt failed. Its code is the server's status, or 500 for whatever has none.
func asksInVain(p acp.Problem, end process.Result) *agent.Failure {
	status := p.Code
	if status == http.StatusInternalServerError {
		status = 0
	}
	code := agent.ModelError(max(0, status), p.Message)
	switch {
	case p.Code == loginNeeded:
		code = agent.Unauthorized
	case code == agent.Crashed && p.Code == http.StatusInternalServerError:
		code = agent.ModelFailed
	}
	f := agent.Fail(code, "%s", cmp.Or(words(p.Message), "Gemini CLI ended with an error that it does not tell"))
	if code == agent.RateLimited || code == agent.UsageLimited {
		f.Until = until(p.Message, end.Started.Add(end.Duration))
	}
	return f
}
