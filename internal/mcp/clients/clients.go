// Package clients writes the entry for Signalbox into the configuration of programs that speak MCP. It keeps what else is in there.
package clients

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/problem"
)

// Skill tells an agent how to work with Signalbox, as a skill file (https://agentskills.io).
//
//go:embed skill.md
var Skill string

// Entry is how a client starts the server.
type Entry struct {
	Program string
	Args    []string
}

// client is a program that speaks MCP.
type client struct {
	name string
	// file is the configuration, from the project's root or, with home, from the variable's folder or a folder in the user's home.
	file, variable, home string
	// key holds the servers; value is an entry. A nil value is written as TOML.
	key   string
	value func(Entry) any
}

// started is the entry of most clients.
type started struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// all are the clients, with the places that their makers document (November 2026): claude by code.claude.com/docs/en/mcp, codex by
// developers.openai.com/codex/mcp, opencode by opencode.ai/docs/mcp-servers, gemini by geminicli.com/docs/tools/mcp-server, vscode by
// code.visualstudio.com/docs/copilot/customization/mcp-servers.
var all = []client{
	{name: "claude", file: ".mcp.json", key: "mcpServers", value: func(e Entry) any { return started{"stdio", e.Program, e.Args} }},
	{name: "codex", file: "config.toml", variable: "CODEX_HOME", home: ".codex"},
	{name: "gemini", file: ".gemini/settings.json", key: "mcpServers", value: func(e Entry) any { return started{"", e.Program, e.Args} }},
	{name: "opencode", file: "opencode.json", key: "mcp", value: func(e Entry) any {
		return struct {
			Type    string   `json:"type"`
			Command []string `json:"command"`
			Enabled bool     `json:"enabled"`
		}{"local", append([]string{e.Program}, e.Args...), true}
	}},
	{name: "vscode", file: ".vscode/mcp.json", key: "servers", value: func(e Entry) any { return started{"stdio", e.Program, e.Args} }},
}

// Names are the clients that Install knows.
func Names() (names []string) {
	for _, c := range all {
		names = append(names, c.name)
	}
	return names
}

// Installed is what Install did.
type Installed struct {
	Client string `json:"client"`
	File   string `json:"file"`
	// Written is false if the file had the entry already.
	Written bool `json:"written"`
}

// Install writes the entry into a client's configuration: the project's or, where the client has none, the user's.
func Install(project, name string, env func(string) string, e Entry) (done Installed, err error) {
	i := slices.IndexFunc(all, func(c client) bool { return c.name == name })
	if i < 0 {
		return done, &problem.Error{Err: fmt.Errorf("%q is no known client", name), Hint: "want one of " + strings.Join(Names(), ", "), Code: problem.Usage}
	}
	c := all[i]
	dir := project
	if c.home != "" {
		dir = cmp.Or(env(c.variable), filepath.Join(env("HOME"), c.home))
	}
	done = Installed{Client: name, File: filepath.Join(dir, filepath.FromSlash(c.file))}
	before, err := os.ReadFile(done.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return done, fmt.Errorf("read the configuration of %s: %w", name, err)
	}
	var after []byte
	if c.value == nil {
		after = withTable(before, e)
	} else if after, err = withMember(before, c.key, c.value(e)); err != nil {
		return done, &problem.Error{Err: fmt.Errorf("read %s: %w", done.File, err), Hint: fmt.Sprintf("it is kept as it is; add the server yourself: %s", e.line())}
	}
	if bytes.Equal(before, after) {
		return done, nil
	}
	done.Written = true
	return done, write(done.File, after)
}

// line is what starts the server.
func (e Entry) line() string { return strings.Join(append([]string{e.Program}, e.Args...), " ") }

// write replaces a file as a whole, or makes it. A link stays a link.
func write(file string, data []byte) error {
	if to, err := filepath.EvalSymlinks(file); err == nil {
		file = to
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	temporary, err := os.CreateTemp(filepath.Dir(file), ".signalbox-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	_, err = temporary.Write(data)
	err = errors.Join(err, temporary.Chmod(mode), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", file, errors.Join(err, os.Remove(temporary.Name())))
	}
	return nil
}

// tableName is the TOML table of our entry.
const tableName = "[mcp_servers.signalbox]"

// withTable adds the entry to a TOML file that doesn't have it. An entry that is there stays as it is: people change them.
func withTable(before []byte, e Entry) []byte {
	for line := range bytes.Lines(before) {
		if strings.HasPrefix(strings.ReplaceAll(string(bytes.TrimSpace(line)), " ", ""), tableName) {
			return before
		}
	}
	args, _ := json.Marshal(e.Args) // a list of strings is the same in TOML
	program, _ := json.Marshal(e.Program)
	text := fmt.Sprintf("%s\ncommand = %s\nargs = %s\n", tableName, program, args)
	if len(before) > 0 {
		text = "\n" + text
		if !bytes.HasSuffix(before, []byte("\n")) {
			text = "\n" + text
		}
	}
	return append(bytes.Clone(before), text...)
}

// member is a member of a JSON object, as it is written.
type member struct {
	name  string
	value jsontext.Value
}

// withMember adds the entry to the object key of a JSON file. The order and the values of everything else stay.
func withMember(before []byte, key string, value any) ([]byte, error) {
	if len(bytes.TrimSpace(before)) == 0 {
		before = []byte("{}")
	}
	top, err := members(before)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(top, func(m member) bool { return m.name == key })
	if i < 0 {
		top, i = append(top, member{key, jsontext.Value("{}")}), len(top)
	}
	servers, err := members(top[i].value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	if slices.ContainsFunc(servers, func(m member) bool { return m.name == "signalbox" }) {
		return before, nil
	}
	ours, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("write the entry: %w", err)
	}
	top[i].value = object(append(servers, member{"signalbox", ours}))
	after := object(top)
	if err := after.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, fmt.Errorf("write the entry: %w", err)
	}
	return append(after, '\n'), nil
}

func members(text []byte) (all []member, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		return nil, errors.Join(err, errors.New("it is no JSON object"))
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		m := member{name: name.String()}
		if m.value, err = d.ReadValue(); err != nil {
			return nil, err
		}
		m.value = m.value.Clone()
		all = append(all, m)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	if d.PeekKind() != 0 {
		return nil, errors.New("something follows the JSON object")
	}
	return all, nil
}

func object(all []member) jsontext.Value {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(m.name)
		b.Write(name)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}
