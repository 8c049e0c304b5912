// Performance reads what "go test -bench" prints, passes it on, and writes the
// measured figures into a page: a figure is followed by <!-- Benchmark unit -->,
// which says where it comes from. Of several runs the median counts. It writes
// nothing when a benchmark failed, or when the page names one that did not run.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go test -bench … | performance PAGE")
		os.Exit(2)
	}
	if err := update(os.Args[1], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "performance:", err)
		os.Exit(1)
	}
}

func update(page string, results io.Reader, echo io.Writer) error {
	measured, err := parse(io.TeeReader(results, echo))
	if err != nil {
		return err
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("read page: %w", err)
	}
	filled, err := fill(string(text), measured)
	if err != nil {
		return fmt.Errorf("fill in %s: %w", page, err)
	}
	if err := os.WriteFile(page, []byte(filled), 0o644); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// figures are the values of every run, by the benchmark and the unit.
type figures map[string][]float64

// processors is what go test adds to a benchmark's name.
var processors = regexp.MustCompile(`-\d+$`)

// parse takes lines such as "BenchmarkUpdate/4KB-2  873  1423515 ns/op  1.108 x-floor".
func parse(results io.Reader) (figures, error) {
	measured := figures{}
	lines := bufio.NewScanner(results)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			continue
		}
		if words[0] == "FAIL" || strings.Contains(lines.Text(), "--- FAIL:") {
			return nil, errors.New("a benchmark failed")
		}
		name, isResult := strings.CutPrefix(processors.ReplaceAllString(words[0], ""), "Benchmark")
		for i := 2; isResult && i+1 < len(words); i += 2 {
			value, err := strconv.ParseFloat(words[i], 64)
			if err != nil {
				return nil, fmt.Errorf("result of %s: %w", name, err)
			}
			key := name + " " + words[i+1]
			measured[key] = append(measured[key], value)
		}
	}
	return measured, lines.Err()
}

var mark = regexp.MustCompile(`([0-9.]+|–) <!-- ([^ ]+ [^ ]+) -->`)

func fill(page string, measured figures) (string, error) {
	var missing []error
	filled := mark.ReplaceAllStringFunc(page, func(found string) string {
		key := mark.FindStringSubmatch(found)[2]
		values := measured[key]
		if len(values) == 0 {
			missing = append(missing, fmt.Errorf("nothing measured %q", key))
			return found
		}
		slices.Sort(values)
		return fmt.Sprintf("%s <!-- %s -->", short(values[len(values)/2]), key)
	})
	if filled == page && len(missing) == 0 && !mark.MatchString(page) {
		missing = append(missing, errors.New("it has no mark"))
	}
	return filled, errors.Join(missing...)
}

// short is three digits, or the whole part if that is more.
func short(value float64) string {
	switch {
	case value >= 100:
		return strconv.FormatFloat(value, 'f', 0, 64)
	case value >= 10:
		return strconv.FormatFloat(value, 'f', 1, 64)
	}
	return strconv.FormatFloat(value, 'f', 2, 64)
}
