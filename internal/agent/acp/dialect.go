package acp

import (
	"encoding/json"

	"signalbox/internal/agent"
	"signalbox/internal/agent/jsonrpc"
	"signalbox/internal/process"
)

// Dialect is what one vendor's program does in its own way.
type Dialect struct {
	// Program is its name for people.
	Program string
	// Resume is the method that resumes a conversation. Retells: the program then replays the whole conversation, asynchronously. Settle is a
	// request that it answers at once, which marks the end of the replay.
	Resume  string
	Retells bool
	Settle  func(session string) (method string, params any)
	// Question returns the question of a request for permission, without its ID; Input returns the part of a tool's input that a person sees.
	Question func(Use) agent.Question
	Input    func(Use) string
	// Tool returns the program's own name of a tool, if a call contains it; empty keeps the name from the call's beginning.
	Tool func(Use) string
	// Spent returns what a prompt used, from its result.
	Spent func(result json.RawMessage) agent.Usage
	// Failure returns what a problem means for a prompt. Silent returns why a program ended without reporting that it had finished, or nil if
	// unknown.
	Failure func(Problem, process.Result) *agent.Failure
	Silent  func(end process.Result, stderr string) *agent.Failure
	// Cut reports whether the model's answer broke off, for a program that then ends its turn as usual. It judges by the usage, and by whether anything
	// was said after the last tool. nil means that the program reports it.
	Cut func(spent agent.Usage, spoke bool) bool
}

// Problem is a program's error about a request. Code is JSON-RPC's or an HTTP status, depending on the program.
type Problem = jsonrpc.Problem
