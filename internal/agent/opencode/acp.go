package opencode

import (
	"cmp"
	"encoding/json"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/acp"
	"signalbox/internal/process"
)

// dialect is what "opencode acp" says in its own way. A denial ends its work without a word.
var dialect = acp.Dialect{
	Program: "opencode", Resume: "session/resume",
	Question: func(u acp.Use) agent.Question {
		return agent.Question{Subject: subject(u.Input, u.Dir), Text: agent.ToolInput(u.Input)}
	},
	Input: func(u acp.Use) string { return agent.ToolInput(u.Input) },
	Tool:  func(acp.Use) string { return "" },
	Spent: spent,
	Failure: func(p acp.Problem, _ process.Result) *agent.Failure {
		return agent.Fail(agent.ModelError(0, p.Message), "%s", p.Message)
	},
	Silent: func(end process.Result, stderr string) *agent.Failure { return silent(end, stderr, time.Time{}) },
}

// spent is without what it never tells, which is money.
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

// subject returns what a rule about a tool is about: a path is relative to dir where it is below it.
func subject(input json.RawMessage, dir string) string {
	var of struct {
		Command  string `json:"command"`
		FilePath string `json:"filePath"`
		Filepath string `json:"filepath"`
		Path     string `json:"path"`
		URL      string `json:"url"`
	}
	_ = json.Unmarshal(input, &of)
	return cmp.Or(of.Command, agent.Below(dir, cmp.Or(of.FilePath, of.Filepath, of.Path)), of.URL)
}
