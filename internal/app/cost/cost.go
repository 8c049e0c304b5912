// Package cost sums what agents used, as the runs' documents have it: by day, request, agent or model. It knows no prices. Older documents have one
// sum for all agents of a run: it is one row with all their names, and no part of it is guessed.
package cost

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"signalbox/internal/app"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
	"signalbox/internal/workflow/budget"
)

// By is what a row is for.
type By string

const (
	ByDay     By = "day"
	ByRequest By = "request"
	ByAgent   By = "agent"
	ByModel   By = "model"
)

// Ways lists every By.
var Ways = []By{ByDay, ByRequest, ByAgent, ByModel}

// Row is what agents used for one of By. Key is the date (UTC), the request's number, or the names of agents or models; "" if no document names
// any. Calls are 0 for sessions, whose agents make as many as they like.
type Row struct {
	Key          string `json:"key"`
	Title        string `json:"title,omitempty"`
	Runs         int    `json:"runs"`
	Calls        int    `json:"calls"`
	InputTokens  int64  `json:"input_tokens"`
	CachedTokens int64  `json:"cached_tokens"`
	OutputTokens int64  `json:"output_tokens"`
	CostMicroUSD int64  `json:"cost_micro_usd"`
}

// Tokens are those that went in and came out.
func (r *Row) Tokens() int64 { return r.InputTokens + r.OutputTokens }

// Dollars is the cost for people; empty if no agent reported one.
func (r *Row) Dollars() string {
	if r.CostMicroUSD == 0 {
		return ""
	}
	return budget.Dollars(r.CostMicroUSD)
}

func (r *Row) add(u workflow.Usage, calls int) {
	r.Runs, r.Calls = r.Runs+1, r.Calls+calls
	r.InputTokens, r.CachedTokens, r.OutputTokens = r.InputTokens+u.InputTokens, r.CachedTokens+u.CachedTokens, r.OutputTokens+u.OutputTokens
	r.CostMicroUSD += u.CostMicroUSD
}

// Costs are rows and their sum. Unreadable runs aren't in it.
type Costs struct {
	By         By    `json:"by"`
	Rows       []Row `json:"rows"`
	Total      Row   `json:"total"`
	Unreadable int   `json:"unreadable_runs,omitempty"`
}

// Read sums what all runs of the project used. Rows with the highest cost come first, then those with most tokens; days, the newest first.
func Read(ctx context.Context, p *app.App, by By) (Costs, error) {
	summaries, err := p.Store.Runs(ctx)
	if err != nil {
		return Costs{}, wire.Explained(err)
	}
	var runs []workflow.Run
	for i := range summaries {
		if summaries[i].Err == nil {
			runs = append(runs, summaries[i].Run)
		}
	}
	c := Sum(runs, by)
	c.Unreadable = len(summaries) - len(runs)
	return c, nil
}

// Sum sums what runs used, including the calls in hand.
func Sum(runs []workflow.Run, by By) Costs {
	c := Costs{By: by, Rows: []Row{}, Total: Row{Key: "total"}}
	rows := map[string]*Row{}
	row := func(key string) *Row {
		if rows[key] == nil {
			rows[key] = &Row{Key: key}
		}
		return rows[key]
	}
	for i := range runs {
		r := &runs[i]
		calls := 0
		for _, day := range r.Details.Days {
			calls += day.Calls
		}
		spent := r.SpentSoFar()
		if calls == 0 && spent.String() == "" {
			continue
		}
		c.Total.add(spent, calls)
		switch by {
		case ByDay:
			for date, used := range days(r) {
				row(date).add(used.Usage, used.Calls)
			}
		case ByRequest:
			of := row(r.Ref())
			of.add(spent, calls)
			of.Title = r.Title
		case ByAgent:
			for name, used := range shares(r, calls, func(a workflow.Assistant) string { return cmp.Or(a.Agent, a.Program) }) {
				row(name).add(used.Usage, used.Calls)
			}
		case ByModel:
			for name, used := range shares(r, calls, func(a workflow.Assistant) string { return a.Model }) {
				row(name).add(used.Usage, used.Calls)
			}
		}
	}
	for _, r := range rows {
		c.Rows = append(c.Rows, *r)
	}
	slices.SortFunc(c.Rows, func(a, b Row) int {
		if by == ByDay {
			return cmp.Compare(b.Key, a.Key)
		}
		return cmp.Or(cmp.Compare(b.CostMicroUSD, a.CostMicroUSD), cmp.Compare(b.Tokens(), a.Tokens()), cmp.Compare(a.Key, b.Key))
	})
	return c
}

// days are what the run used on each day.
func days(r *workflow.Run) map[string]workflow.Day {
	all := map[string]workflow.Day{}
	book := func(date string, u workflow.Usage, calls int) {
		day := all[date]
		all[date] = workflow.Day{Usage: day.Usage.Plus(u), Calls: day.Calls + calls}
	}
	for _, day := range r.Details.Days {
		book(day.Date, day.Usage, day.Calls)
	}
	if call := r.Details.Calling; call != nil {
		book(budget.DateOf(r.UpdatedAt), call.Usage, 0)
	}
	return all
}

// shares are what each of a run's agents used, by the names that of gives them. What the document has no agent's share of is all agents'.
func shares(r *workflow.Run, calls int, of func(workflow.Assistant) string) map[string]workflow.Assistant {
	all, names := map[string]workflow.Assistant{}, map[string]bool{}
	rest := workflow.Assistant{Usage: r.SpentSoFar(), Calls: calls}
	assistants := r.Details.Assistants
	if c := r.Details.Calling; c != nil {
		assistants = append(slices.Clip(assistants), workflow.Assistant{Agent: c.Agent, Program: c.Program, Model: c.Model, Usage: c.Usage})
	}
	for _, a := range assistants {
		name := of(a)
		names[name] = true
		if a.Calls > 0 || a.Usage.String() != "" {
			sum := all[name]
			all[name] = workflow.Assistant{Usage: sum.Usage.Plus(a.Usage), Calls: sum.Calls + a.Calls}
			rest.Usage, rest.Calls = rest.Usage.Minus(a.Usage), rest.Calls-a.Calls
		}
	}
	if rest.Calls > 0 || rest.Usage.String() != "" {
		delete(names, "")
		name := strings.Join(slices.Sorted(maps.Keys(names)), " + ")
		sum := all[name]
		all[name] = workflow.Assistant{Usage: sum.Usage.Plus(rest.Usage), Calls: sum.Calls + rest.Calls}
	}
	return all
}

// Of returns the By with that name.
func Of(name string) (By, error) {
	if by := By(name); slices.Contains(Ways, by) {
		return by, nil
	}
	return "", fmt.Errorf("%q is none of day, request, agent and model", name)
}
