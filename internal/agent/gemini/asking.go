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

// dialect is what "gemini --acp" does in its own way.
var dialect = acp.Dialect{
	Program: "Gemini CLI", Resume: "session/load", Retells: true,
	// Setting the current mode again changes nothing.
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

// tool returns Gemini CLI's own name of a tool, with which the id of every call begins.
func tool(u acp.Use) string {
	if name, _, ok := strings.Cut(u.Call, "__"); ok {
		return name
	}
	return u.Kind
}

// question returns the question of a request. A request never has a tool's whole input: it has the command and its folder, or the change of a file; other
// tools only have a title, which may be incomplete.
func question(u acp.Use) agent.Question {
	parts := u.Parts()
	switch {
	case tool(u) == "run_shell_command":
		where := ""
		for _, part := range parts {
			where += part.Content.Text
		}
		// The note about the folder comes from the agent: if it looks unusual, it stays in front of the command as it is, so that no pattern for
		// commands matches.
		command := where + " " + u.Title
		if found := elsewhere().FindStringSubmatch(where); found != nil {
			command = "cd " + found[1] + " && " + u.Title
		} else if where == "" || strings.HasPrefix(where, "[current working directory ") {
			command = u.Title
		}
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

// elsewhere matches the note that a command runs in another folder, if nothing can hide in the folder's name.
var elsewhere = lazy.Pattern(`^\[in ([\w./-]+)\]$`)

// write writes lines with a sign in front of each.
func write(b *strings.Builder, sign string, lines []string) {
	for _, line := range lines {
		if line != "" {
			b.WriteString(sign + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
}

// spent returns the usage without cached tokens, which are never reported.
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

// loginNeeded is Gemini CLI's code for a missing login.
const loginNeeded = -32000

// asksInVain returns why a prompt failed. The code is the server's status, or 500 if there is none.
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
	f := agent.Fail(code, "%s", cmp.Or(words(p.Message), "Gemini CLI ended with an unknown error"))
	if code == agent.RateLimited || code == agent.UsageLimited {
		f.Until = until(p.Message, end.Started.Add(end.Duration))
	}
	return f
}
