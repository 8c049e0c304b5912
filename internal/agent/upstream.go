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

// Person is what the user has set up on this machine for the agents that they use themselves: variables
// and files of their HOME. Nothing of a repository is read here.
type Person struct {
	Home string
	Env  func(name string) string
}

// maxSettings bounds a file of settings.
const maxSettings = 1 << 20

// File is the content of a file below HOME; nil where there is none.
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

// JSON reads a file below HOME, which may have comments and commas before a closing bracket. Into stays as
// it is where there is no file.
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

// plainJSON is JSON without comments and without commas before a closing bracket.
func plainJSON(text []byte) (plain []byte) {
	comma := -1 // where the last one stands, if only space has followed
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

// Upstream is where the user's own settings lead an agent in the place of its vendor's server. The zero
// value is the vendor's, with its usual key.
type Upstream struct {
	// URL is the server, From what says so ("ANTHROPIC_BASE_URL"), for people.
	URL, From string
	// Key is the key itself, KeyFrom what holds it. Bearer: it goes as "Authorization: Bearer".
	Key, KeyFrom string
	Bearer       bool
	// Headers are further ones of every request, by name. They may be secret.
	Headers map[string]string
	// Problem says why Signalbox cannot follow the settings, Next what the user can type instead.
	Problem, Next string
}

// Keyed takes the first of the variables that holds something for the key.
func (u *Upstream) Keyed(p Person, variables ...string) bool {
	for _, name := range variables {
		if value := p.Env(name); value != "" && u.Key == "" {
			u.Key, u.KeyFrom = value, name
		}
	}
	return u.Key != ""
}

// On reports whether a variable switches something on, as agents read it.
func (p Person) On(name string) bool {
	value := strings.ToLower(p.Env(name))
	return value != "" && value != "0" && value != "false" && value != "no" && value != "off"
}

// Headers reads "Name: value" lines.
func Headers(lines string) map[string]string {
	headers := map[string]string{}
	for line := range strings.Lines(lines) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) != "" {
			headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return headers
}
