package local

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"signalbox/internal/forge"
	"signalbox/internal/lazy"
)

// Limits of one request file. They are far above what a person writes and low enough to be harmless: the
// file may come with any branch that is checked out.
const (
	maxRequestBytes     = 1 << 20
	maxFrontMatterBytes = 64 << 10
	maxListLength       = 100
	maxLineBytes        = 4 << 10
)

var (
	idPattern     = lazy.Pattern(`^RQ-\d{8}-(\d{3,6})$`)
	numberPattern = lazy.Pattern(`^[1-9]\d{0,8}$`)
)

// lineError is an error on one line of a request file, counted from 1.
type lineError struct {
	line   int
	reason string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.reason) }

func refuse(line int, format string, args ...any) error {
	return &lineError{line: line, reason: fmt.Sprintf(format, args...)}
}

// parseRequest reads a request file: YAML between two `---` lines, then Markdown. Without a number, the
// id's last digits are the number.
func parseRequest(data []byte) (forge.Request, error) {
	var request forge.Request
	if !utf8.Valid(data) {
		return request, refuse(1, "the file is not valid UTF-8")
	}
	header, body, err := splitFrontMatter(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")))
	if err != nil {
		return request, err
	}
	mapping, err := parseMapping(header)
	if err != nil {
		return request, err
	}
	if err := readKeys(mapping, &request); err != nil {
		return request, err
	}
	request.Body = strings.TrimSpace(string(body))
	if request.ID == "" {
		return request, refuse(1, "id is missing")
	}
	id := idPattern().FindStringSubmatch(request.ID)
	if id == nil {
		at := slices.IndexFunc(mapping.Content, func(n *yaml.Node) bool { return n.Value == "id" })
		return request, refuse(mapping.Content[at].Line, "id %q does not look like RQ-YYYYMMDD-NNN", request.ID)
	}
	if request.Number == 0 {
		request.Number, _ = strconv.Atoi(id[1])
	}
	switch {
	case request.Number == 0:
		err = refuse(1, "number is missing and id %s ends in zero", request.ID)
	case request.Title == "":
		err = refuse(1, "title is missing")
	}
	return request, err
}

// splitFrontMatter returns the YAML including its opening line, so YAML's line numbers match the file's.
func splitFrontMatter(data []byte) (header, body []byte, err error) {
	const mark = "---\n"
	if !bytes.HasPrefix(data, []byte(mark)) {
		return nil, nil, refuse(1, "the first line is not ---")
	}
	if len(data) > maxFrontMatterBytes {
		header = data[:maxFrontMatterBytes]
	} else {
		header = append(data[:len(data):len(data)], '\n')
	}
	end := bytes.Index(header[len(mark)-1:], []byte("\n"+mark))
	if end < 0 {
		return nil, nil, refuse(1, "the front matter has no closing --- within %d bytes", maxFrontMatterBytes)
	}
	end += len(mark)
	return header[:end], data[min(end+len(mark), len(data)):], nil
}

// lineBefore matches decoder errors that are one line too low: the parser counts from 0, and so does the
// scanner if a tab indents.
var lineBefore = lazy.Pattern(`^yaml: line (\d+): (did not find expected|found a tab character that violates)`)

func parseMapping(header []byte) (*yaml.Node, error) {
	var document, more yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(header))
	if err := decoder.Decode(&document); err != nil {
		says := err.Error()
		if found := lineBefore().FindStringSubmatch(says); found != nil {
			n, _ := strconv.Atoi(found[1])
			says = strings.Replace(says, "line "+found[1], "line "+strconv.Itoa(n+1), 1)
		}
		return nil, fmt.Errorf("front matter: %s", says)
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, refuse(max(more.Line, 1), "the front matter is more than one YAML document")
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, refuse(1, "the front matter is not a list of keys and values")
	}
	return document.Content[0], nil
}

func readKeys(mapping *yaml.Node, request *forge.Request) error {
	keys := map[string]func(*yaml.Node) error{
		"id": into(&request.ID, line), "number": into(&request.Number, number), "title": into(&request.Title, line),
		"base": into(&request.Base, branch), "tests": into(&request.Tests, commands), "labels": into(&request.Labels, list),
		"language": into(&request.Language, line), "area": into(&request.Area, line), "depends_on": into(&request.DependsOn, references),
		"run": into(&request.Auto, auto),
	}
	seen := map[string]bool{}
	for i := 0; i < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		if seen[key.Value] {
			return refuse(key.Line, "key %q appears twice", key.Value)
		}
		seen[key.Value] = true
		read, known := keys[key.Value]
		if !known {
			return refuse(key.Line, "unknown key %q", key.Value)
		}
		if err := read(value); err != nil {
			return err
		}
	}
	request.Title, request.Area = clean(request.Title), clean(request.Area)
	return nil
}

// into returns a function that reads a key's value into a field.
func into[T any](field *T, read func(*yaml.Node) (T, error)) func(*yaml.Node) error {
	return func(value *yaml.Node) (err error) {
		*field, err = read(value)
		return err
	}
}
