package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Person is the user's own setup for the agents on this machine: variables, and files of HOME. It never reads from a repository. Drivers use it to
// find the server that the user already chose for a program, so that Signalbox sends requests to the same one.
type Person struct {
	// Home is the user's home folder; empty means that there are no files.
	Home string
	// Env returns a variable of this process, empty if it is not set.
	Env func(name string) string
}

// maxSettings is the largest settings file that is read, in bytes.
const maxSettings = 1 << 20

// File returns the content of a file below HOME, or nil if it doesn't exist. It reads at most maxSettings bytes. The error names the file as the user
// knows it ("~/…").
func (p Person) File(name string) ([]byte, error) {
	if p.Home == "" {
		return nil, nil
	}
	file, err := os.Open(filepath.Join(p.Home, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ~/%s: %w", name, err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxSettings))
	if err != nil {
		return nil, fmt.Errorf("read ~/%s: %w", name, err)
	}
	return text, nil
}

// JSON reads a file below HOME, which may contain comments and trailing commas. If the file doesn't exist or is empty, into is unchanged. A file that
// is no JSON is an error: the program would ignore it or refuse to start, and either surprises the user.
func (p Person) JSON(name string, into any) error {
	text, err := p.File(name)
	if err != nil || len(bytes.TrimSpace(text)) == 0 {
		return err
	}
	if err := json.Unmarshal(plainJSON(text), into); err != nil {
		return fmt.Errorf("read ~/%s: %w", name, err)
	}
	return nil
}

// plainJSON removes comments, and commas before a closing bracket, which agents accept in their settings (opencode calls such a file opencode.jsonc).
// It checks nothing else: the decoder finds what is wrong.
func plainJSON(text []byte) (plain []byte) {
	comma := -1 // position of the last comma followed only by space
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch {
		case text[i] == '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(text))
			plain, i, comma = append(plain, text[i:end]...), end-1, -1
			continue
		case bytes.HasPrefix(rest, []byte("//")):
			if end := bytes.IndexByte(rest, '\n'); end >= 0 {
				i += end - 1
				continue
			}
			return plain
		case bytes.HasPrefix(rest, []byte("/*")):
			if end := bytes.Index(rest[2:], []byte("*/")); end >= 0 {
				i += end + 3
				continue
			}
			return plain
		case text[i] == ',':
			comma = len(plain)
		case text[i] == ']' || text[i] == '}':
			if comma >= 0 {
				plain[comma] = ' '
			}
			comma = -1
		case !strings.ContainsRune(" \t\r\n", rune(text[i])):
			comma = -1
		}
		plain = append(plain, text[i])
	}
	return plain
}

// Upstream is the server that the user's own settings give an agent in place of its vendor's: a company's proxy, a gateway such as LiteLLM, or a model
// on this machine. The zero value is the vendor's server with its usual key.
type Upstream struct {
	// URL is the server; empty means the vendor's. From names the setting that says so ("ANTHROPIC_BASE_URL"), for people.
	URL, From string
	// Key is the key itself, which only the gateway gets; KeyFrom names the setting that holds it. Bearer: it is sent as "Authorization: Bearer".
	Key, KeyFrom string
	Bearer       bool
	// Headers are added to every request. Their values may be secret, so they are never logged.
	Headers map[string]string
	// Problem says why Signalbox can't follow the settings, for example because a program makes the key; Next is what the user can type instead. Then
	// the agent isn't started: it would reach another server than the user means.
	Problem, Next string
}

// Keyed sets the key to the first of the variables that isn't empty, unless it has one, and reports whether it has one now.
func (u *Upstream) Keyed(p Person, variables ...string) bool {
	for _, name := range variables {
		if value := p.Env(name); value != "" && u.Key == "" {
			u.Key, u.KeyFrom = value, name
		}
	}
	return u.Key != ""
}

// On reports whether a variable is switched on, by the rules that agents use: anything but empty, "0", "false", "no" and "off".
func (p Person) On(name string) bool {
	value := strings.ToLower(p.Env(name))
	return value != "" && value != "0" && value != "false" && value != "no" && value != "off"
}

// Headers parses "Name: value" lines, the format of ANTHROPIC_CUSTOM_HEADERS. Lines of another form are skipped.
func Headers(lines string) map[string]string {
	headers := map[string]string{}
	for line := range strings.Lines(lines) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) != "" {
			headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return headers
}
