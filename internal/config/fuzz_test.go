package config

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// fuzzBudget is far above what any file of the fuzzer's size may take.
const fuzzBudget = 20 * time.Second

// The file may come with any branch that is checked out.
func FuzzConfiguration(f *testing.F) {
	for _, text := range []string{"", "approve: auto\nworkflow: [tdd-red]\n", "agents: {a: {driver: command, command: [true]}}\n", "a: &a [*a]\n",
		"a: &a [x, x, x]\nb: &b [*a, *a, *a]\nc: [*b, *b, *b]\n", "approve: [\n", "approve: auto\napprove: manual\n", "---\n---\n", "\x00", "\xff\xfe", "!!binary x",
		"<<: {approve: auto}\n", "max_parallel: 1e999\n", "limits: {agent_idle: -1s}\n", "? {a: b}\n: c\n", strings.Repeat("[", 5000), strings.Repeat("- ", 2000)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		begun := time.Now()
		c := Default()
		if p, told, err := parseInto(data, &c); p != nil {
			_ = p.located(errors.Join(err, told.beyond(c.validate(), p)))
			if bare := c.WithoutReach(false); c.Environment.Driver != DriverContainer && len(bare.Reaches(false)) > 0 {
				t.Fatalf("reaches the machine without it: %v", bare.Reaches(false))
			}
		}
		if took := time.Since(begun); took > fuzzBudget {
			t.Fatalf("took %s", took)
		}
	})
}
