package acp

import (
	"encoding/json"

	"signalbox/internal/agent"
	"signalbox/internal/agent/jsonrpc"
	"signalbox/internal/process"
)

// Dialect is what one vendor's program says in its own way.
type Dialect struct {
	// Program is its name in words for people.
	Program string
	// Resume is the method that resumes a conversation. Retells: the program then replays the whole conversation, asynchronously. Settle is a
	// request that it answers at once, which marks the end of the replay.
	Resume  string
	Retells bool
	Settle  func(session string) (method string, params any)
	// Question is what a request for permission asks, without its ID; Input what a person sees of a tool's input.
	Question func(Use) agent.Question
	Input    func(Use) string
	// Tool returns the program's own name of a tool, if a call contains it; empty keeps the name from the call's beginning.
	Tool func(Use) string
	// Spent is what a prompt used, read of its whole result.
	Spent func(result json.RawMessage) agent.Usage
	// Failure returns what a problem means for a prompt. Silent returns why a program ended without reporting that it had finished, or nil if
	// unknown.
	Failure func(Problem, process.Result) *agent.Failure
	Silent  func(end process.Result, stderr string) *agent.Failure
	// Cut is of a program that says that its turn is over also where the model's answer broke off: whether
	// it did, by what was used and whether anything was said after the last tool.
	Cut func(spent agent.Usage, spoke bool) bool
}

// Problem is what a program says of a request that it could not do. Code is what the program takes for
// one: JSON-RPC's, or an HTTP status.
type Problem = jsonrpc.Problem
