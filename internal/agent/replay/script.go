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
	s, err := parseScript(text)
	if err != nil {
		return script{}, fmt.Errorf("read replay script %s: %w", path, err)
	}
	return s, nil
}

func parseScript(text []byte) (script, error) {
	if len(text) > maxScript {
		return script{}, fmt.Errorf("it has more than %d bytes", maxScript)
	}
	var s script
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&s); err != nil && !errors.Is(err, io.EOF) {
		return script{}, err
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return script{}, errors.New("there is more than one YAML document")
	}
	if len(s.Entries) == 0 {
		return script{}, errors.New("there are no entries")
	}
	return s, nil
}

func matches[T comparable](want *T, is T) bool { return want == nil || *want == is }
