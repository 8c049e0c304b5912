package opencode

import (
	"cmp"
	"encoding/json"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/acp"
	"signalbox/internal/process"
)

// dialect is what "opencode acp" does in its own way. A denial ends its turn without a message.
var dialect = acp.Dialect{
	Program: "opencode", Resume: "session/resume",
	Question: func(u acp.Use) agent.Question {
		var of struct { // the part of a tool's input that patterns are compared with
			Command  string `json:"command"`
			FilePath string `json:"filePath"`
			Filepath string `json:"filepath"`
			Path     string `json:"path"`
			URL      string `json:"url"`
		}
		_ = json.Unmarshal(u.Input, &of)
		subject := cmp.Or(of.Command, agent.Below(u.Dir, cmp.Or(of.FilePath, of.Filepath, of.Path)), of.URL)
		return agent.Question{Subject: subject, Text: agent.ToolInput(u.Input)}
	},
	Input: func(u acp.Use) string { return agent.ToolInput(u.Input) },
	Tool:  func(acp.Use) string { return "" },
	Spent: spent,
	Failure: func(p acp.Problem, _ process.Result) *agent.Failure {
		return agent.Fail(agent.ModelError(0, p.Message), "%s", p.Message)
	},
	Silent: func(end process.Result, stderr string) *agent.Failure { return silent(end, stderr, time.Time{}) },
}

// spent returns the usage without its cost, which is never reported.
func spent(result json.RawMessage) agent.Usage {
	var end struct {
		Usage struct {
			Input  int64 `json:"inputTokens"`
			Output int64 `json:"outputTokens"`
			Cached int64 `json:"cachedReadTokens"`
		} `json:"usage"`
	}
	_ = json.Unmarshal(result, &end)
	return agent.Usage{InputTokens: end.Usage.Input + end.Usage.Cached, CachedTokens: end.Usage.Cached, OutputTokens: end.Usage.Output}
}
