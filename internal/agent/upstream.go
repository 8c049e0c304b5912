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

// Person is the user's own setup for the agents on this machine: variables, and files of HOME. It never reads from a repository.
type Person struct {
	Home string
	Env  func(name string) string
}

// maxSettings is the largest settings file that is read, in bytes.
const maxSettings = 1 << 20

// File returns the content of a file below HOME, or nil if it doesn't exist.
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

// JSON reads a file below HOME, which may contain comments and trailing commas. If the file doesn't exist, into is unchanged.
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

// plainJSON removes comments, and commas before a closing bracket.
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

// Upstream is the server that the user's own settings give an agent in place of its vendor's. The zero value is the vendor's server with its usual
// key.
type Upstream struct {
	// URL is the server. From names the setting that says so ("ANTHROPIC_BASE_URL"), for people.
	URL, From string
	// Key is the key itself; KeyFrom names the setting that holds it. Bearer: it is sent as "Authorization: Bearer".
	Key, KeyFrom string
	Bearer       bool
	// Headers are added to every request. Their values may be secret.
	Headers map[string]string
	// Problem says why Signalbox can't follow the settings; Next is what the user can type instead.
	Problem, Next string
}

// Keyed sets the key to the first of the variables that isn't empty, and reports whether there was one.
func (u *Upstream) Keyed(p Person, variables ...string) bool {
	for _, name := range variables {
		if value := p.Env(name); value != "" && u.Key == "" {
			u.Key, u.KeyFrom = value, name
		}
	}
	return u.Key != ""
}

// On reports whether a variable is switched on, by the rules that agents use.
func (p Person) On(name string) bool {
	value := strings.ToLower(p.Env(name))
	return value != "" && value != "0" && value != "false" && value != "no" && value != "off"
}

// Headers parses "Name: value" lines.
func Headers(lines string) map[string]string {
	headers := map[string]string{}
	for line := range strings.Lines(lines) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) != "" {
			headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return headers
}
