package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"go.yaml.in/yaml/v3"
)

// maxScript bounds what is read into memory; a script with large patches has some hundred KiB.
const maxScript = 16 << 20

// script is the file; the package comment defines its format.
type script struct {
	Entries []entry `yaml:"entries"`
}

// entry is what to do in the calls that it matches. A nil key matches all.
type entry struct {
	Role    *string `yaml:"role"`
	Step    *string `yaml:"step"`
	Attempt *int    `yaml:"attempt"`
	Round   *int    `yaml:"round"`
	Do      []step  `yaml:"do"`
}

// readScript reads and checks a script. Its errors name the file, and the line where there is one.
func readScript(path string) (script, error) {
	file, err := os.Open(path)
	if err != nil {
		return script{}, fmt.Errorf("open replay script: %w", err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxScript+1))
	if err != nil {
		return script{}, fmt.Errorf("read replay script: %w", err)
	}
	if len(text) > maxScript {
		return script{}, fmt.Errorf("read replay script %s: it has more than %d bytes", path, maxScript)
	}
	var s script
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&s); err != nil && !errors.Is(err, io.EOF) {
		return script{}, fmt.Errorf("read replay script %s: %w", path, err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return script{}, fmt.Errorf("read replay script %s: there is more than one YAML document", path)
	}
	if len(s.Entries) == 0 {
		return script{}, fmt.Errorf("read replay script %s: there are no entries", path)
	}
	return s, nil
}

func matches[T comparable](want *T, is T) bool { return want == nil || *want == is }
