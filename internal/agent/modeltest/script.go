package modeltest

import (
	"encoding/json"
	"fmt"
)

// Script is the model's behavior after one prompt: turn after turn, each when the results of all calls before it are in the conversation.
type Script struct {
	// Dir is the agent's working directory, as the agent sees it. Relative paths of calls are
	// below it: some agents' tools take absolute paths only. Where it is empty they stay relative.
	Dir string
	// Turns are answered in their order. One without calls is the last; where there is none the
	// script ends with DefaultText.
	Turns []Turn
}

// Turn is one answer of the model: text, calls of tools, or both.
type Turn struct {
	// Say is the text. It is streamed in pieces of a word or two, however long it is; a huge
	// one (many MiB) in a few hundred pieces.
	Say   string
	Calls []Call
	// Fault is what happens instead, or while it is answered.
	Fault Fault
	// Usage is what the answer is said to have cost; zero is DefaultUsage.
	Usage Usage
}

// Usage counts tokens, as every API does per answer.
type Usage struct {
	// Input is all of the input, Cached the part of it that was read from a cache.
	Input, Cached, Output int64
}

// Answers for turns that the script does not define.
const (
	DefaultText  = "All done."
	defaultTitle = "A title"
)

var DefaultUsage = Usage{Input: 1200, Cached: 200, Output: 30}

// Say returns a turn of text alone, which ends the conversation.
func Say(text string) Turn { return Turn{Say: text} }

// SayJSON is Say of a value as JSON, as planners and reviewers answer. It panics if value can't be marshaled, which only a broken test can cause.
func SayJSON(value any) Turn {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("modeltest: marshal answer: %v", err))
	}
	return Say(string(text))
}

// Do returns a turn of calls alone.
func Do(calls ...Call) Turn { return Turn{Calls: calls} }

// Call is one use of a tool, independent of the vendor. The server picks the tool among those that the agent offers.
type Call struct {
	verb verb
	// target is the path or the command; content what is written.
	target, content string
	// name and arguments are a tool's own, for verb tool.
	name      string
	arguments json.RawMessage
}

type verb string

const (
	write verb = "write a file"
	read  verb = "read a file"
	run   verb = "run a command"
	tool  verb = "call a tool by its name"
)

// Write writes a file. An agent without a tool for that does it with a command.
func Write(path, content string) Call { return Call{verb: write, target: path, content: content} }

// Read reads a file, with a command if the agent has no tool for it.
func Read(path string) Call { return Call{verb: read, target: path} }

// Run runs a shell command.
func Run(command string) Call { return Call{verb: run, target: command} }

// Tool calls the agent's tool of this name with these arguments (JSON): a tool
// that only one agent has, one of an MCP server, or arguments that are wrong.
func Tool(name, arguments string) Call {
	return Call{verb: tool, name: name, arguments: json.RawMessage(arguments)}
}
