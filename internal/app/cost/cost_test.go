package cost_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"signalbox/internal/app/cost"
	"signalbox/internal/workflow"
)

// run is a run of a request, with what it used on each day, and by whom.
func run(number int, days []workflow.Day, by ...workflow.Assistant) workflow.Run {
	r := workflow.New(workflow.Start{Number: number, RequestID: fmt.Sprint("RQ-", number), Title: fmt.Sprint("title ", number)}, time.Date(2026, 1, 2, 23, 0, 0, 0, time.UTC))
	r.Details.Days, r.Details.Assistants = days, by
	for _, day := range days {
		r.Details.Spent = r.Details.Spent.Plus(day.Usage)
	}
	return r
}

func day(date string, calls int, tokens, micro int64) workflow.Day {
	return workflow.Day{Date: date, Calls: calls, Usage: workflow.Usage{InputTokens: tokens, CachedTokens: tokens / 2, OutputTokens: 1, CostMicroUSD: micro}}
}

func TestCosts(t *testing.T) {
	t.Parallel()
	claude := workflow.Assistant{Role: workflow.Implementer, Agent: "claude", Program: "Claude Code", Model: "opus"}
	codex := workflow.Assistant{Role: workflow.Reviewer, Program: "Codex", Model: "gpt"}
	calling := run(3, nil)
	calling.Details.Calling = &workflow.Call{Agent: "claude", Model: "opus", Usage: workflow.Usage{InputTokens: 1000}}
	share := func(a workflow.Assistant, calls int, tokens, micro int64) workflow.Assistant {
		d := day("", calls, tokens, micro)
		a.Usage, a.Calls = d.Usage, d.Calls
		return a
	}
	runs := []workflow.Run{
		run(5, []workflow.Day{day("2026-01-03", 3, 60, 500_000)}, share(codex, 1, 20, 100_000), share(claude, 1, 30, 300_000)),
		run(1, []workflow.Day{day("2026-01-01", 1, 10, 0), day("2026-01-02", 2, 20, 1_500_000)}, claude),
		run(1, []workflow.Day{day("2026-01-02", 1, 40, 2_000_000)}, codex, claude, claude),
		run(2, []workflow.Day{day("2026-01-01", 0, 5, 0)}), calling, run(4, nil),
	}
	for by, want := range map[cost.By]string{
		cost.ByDay:     "2026-01-03: 1 runs, 3 calls, 61 tokens, $0.5000; 2026-01-02: 3 runs, 3 calls, 1062 tokens, $3.50; 2026-01-01: 2 runs, 1 calls, 17 tokens, ",
		cost.ByRequest: "1 title 1: 2 runs, 4 calls, 73 tokens, $3.50; 5 title 5: 1 runs, 3 calls, 61 tokens, $0.5000; 3 title 3: 1 runs, 0 calls, 1000 tokens, ; 2 title 2: 1 runs, 0 calls, 6 tokens, ",
		cost.ByAgent:   "Codex + claude: 2 runs, 2 calls, 50 tokens, $2.10; claude: 3 runs, 4 calls, 1063 tokens, $1.80; Codex: 1 runs, 1 calls, 21 tokens, $0.1000; : 1 runs, 0 calls, 6 tokens, ",
		cost.ByModel:   "gpt + opus: 2 runs, 2 calls, 50 tokens, $2.10; opus: 3 runs, 4 calls, 1063 tokens, $1.80; gpt: 1 runs, 1 calls, 21 tokens, $0.1000; : 1 runs, 0 calls, 6 tokens, ",
	} {
		c := cost.Sum(runs, by)
		var said []string
		for _, r := range c.Rows {
			said = append(said, fmt.Sprintf("%s: %d runs, %d calls, %d tokens, %s", strings.TrimSpace(r.Key+" "+r.Title), r.Runs, r.Calls, r.Tokens(), r.Dollars()))
		}
		if got := strings.Join(said, "; "); got != want {
			t.Errorf("by %s: %s", by, got)
		}
		if c.Total.Runs != 5 || c.Total.Tokens() != 1140 || c.Total.CachedTokens != 67 || c.Total.CostMicroUSD != 4_000_000 {
			t.Errorf("in all, by %s: %+v", by, c.Total)
		}
	}
}
