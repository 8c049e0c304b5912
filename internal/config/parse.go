package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"signalbox/internal/lazy"

	"go.yaml.in/yaml/v3"
)

// parseInto reads the settings from a file into a struct of them. A wrong value stays at its default and is reported in the error, together with all
// others. If places is nil, nothing could be read.
func parseInto(data []byte, settings any) (_ places, _ told, _ error) {
	if len(data) > maxSize {
		return nil, told{}, fmt.Errorf("has more than %d bytes", maxSize)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return places{}, told{}, nil // an empty file
	} else if err != nil {
		return nil, told{}, inWords(err, data)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, told{}, errors.New("contains more than one document")
	}
	check := checker{places: places{}}
	check.check(document.Content[0], reflect.TypeOf(settings).Elem(), "")
	if check.visited > maxNodes {
		return nil, told{}, errors.New("its aliases expand too far")
	}
	err := errors.Join(check.problems...)
	if e := document.Decode(settings); e != nil && err == nil {
		return nil, told{}, inWords(e, data)
	}
	return check.places, check.told, err
}

// syntaxLine matches the line number in the decoder's error.
var syntaxLine = lazy.Pattern(`^line (\d+): `)

// inWords returns the decoder's error without its jargon.
func inWords(err error, data []byte) error {
	says := strings.TrimPrefix(err.Error(), "yaml: ")
	found := syntaxLine().FindStringSubmatch(says)
	if !utf8.Valid(data) {
		return errors.New("is not UTF-8 text")
	}
	if found == nil {
		return errors.New(says)
	}
	number, _ := strconv.Atoi(found[1])
	lines := strings.Split(string(data), "\n")
	// The decoder names the line before if the problem is at the start of a line.
	for n := number; n <= number+1 && n <= len(lines); n++ {
		if indent := lines[n-1][:len(lines[n-1])-len(strings.TrimLeft(lines[n-1], " \t"))]; strings.Contains(indent, "\t") {
			return fmt.Errorf("line %d: begins with a tab: want spaces", n)
		}
	}
	return fmt.Errorf("%s (not YAML: look for a wrong quote, bracket or indentation)", says)
}
