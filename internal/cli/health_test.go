package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/cli"
	"signalbox/internal/cli/command"
)

// readOutputs reads a file of outputs as GitHub Actions does.
func readOutputs(t *testing.T, path string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	outputs, lines := map[string]string{}, bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		name, end, ok := strings.Cut(lines.Text(), "<<")
		if !ok || end == "" {
			t.Fatalf("line %q sets nothing", lines.Text())
		}
		var value []string
		for lines.Scan() && lines.Text() != end {
			value = append(value, lines.Text())
		}
		outputs[name] = strings.Join(value, "\n")
	}
	return outputs
}

func TestGateWritesOutputsThatNoValueCanBreakOutOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	output := filepath.Join(dir, "output")
	for i, summary := range []string{
		"plain", "two\nlines", "x\nEOF\ngo=true\ngo<<EOF\ntrue\nEOF", "a<<b\nb\ngo=true", "\nend_\nend_\n", "\x1b[31mred\x00", "", "token ghp_0123456789abcdefghij0123456789",
	} {
		state := fmt.Sprintf(`{"retry_required":true,"run_count":%d,"last_error_id":"e","last_error_summary":%q,"last_health_status":"critical"}`, i, "x")
		state = strings.Replace(state, `"x"`, jsonText(t, summary), 1)
		if err := os.WriteFile(filepath.Join(dir, "state.json"), []byte(state), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(output, []byte("before<<x\nkept\nx\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errOut bytes.Buffer
		code := cli.Main(context.Background(), []string{"health", "gate"}, command.Streams{In: strings.NewReader(""), Out: &out, Err: &errOut,
			Width: func() int { return 80 }, Dir: dir, Env: func(name string) string {
				return map[string]string{"GITHUB_OUTPUT": output}[name]
			}})
		if code != 3 {
			t.Fatalf("exit code %d: %s", code, errOut.String())
		}
		want := strings.NewReplacer("\x1b[31m", "", "\x00", "", "ghp_0123456789abcdefghij0123456789", "[redacted]").Replace(summary)
		got := readOutputs(t, output)
		if got["before"] != "kept" || got["go"] != "false" || got["decision"] != "critical" || got["retry_required"] != "true" ||
			got["run_count"] != fmt.Sprint(i) || got["last_error_summary"] != want || got["look"] != "true" || len(got) != 13 {
			t.Errorf("outputs of %q are %q", summary, got)
		}
	}
}

func jsonText(t *testing.T, text string) string {
	t.Helper()
	data, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
