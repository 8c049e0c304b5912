package machine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"signalbox/internal/workflow"
)

const introduction = `# The state machine

![A run's journey from QUEUED to DONE, the ways back, and where it stops](state-machine.svg)

Look up every state of a run, and every event that moves it on. ` + "`" + `signalbox status 42` + "`" + ` shows where your run is.

This page is for people who build on Signalbox or change it. To use Signalbox you only need the drawing and [why a run stopped](reasons.md).

A run is always at one place: a phase while it's RUNNING, otherwise its state. An event (an order of yours, or the result of an action) moves it to the
next place. The drawing shows only events that do. If a workflow leaves phases out, or a phase has nothing to do, the run skips them in the same
transition.

This page is generated from an exhaustive walk through ` + "`machine.Decide`" + `: ` +
	"`go test ./internal/workflow/machine -run StateMachine -update`" + ` rewrites it, and without ` + "`-update`" + ` that test fails when it is stale.
`

func document(seen map[edge]bool, drawn []arrow) string {
	var b strings.Builder
	b.WriteString(introduction)
	b.WriteString("\n## The journey\n\n")
	writePhases(&b, drawn)
	b.WriteString("\n## The states\n\nDONE and CANCELED are final. A crash doesn't move a run: it continues from where it was saved.\n\n")
	writeStates(&b)
	b.WriteString("\n## Positions\n\nAll documents take a run's position from this table. The environment's setup is a part of design-check.\n\n")
	writePositions(&b)
	b.WriteString("\n## Every transition\n\n")
	writeTransitions(&b, seen)
	return b.String()
}

// writePhases draws the phases as one group, because a stop is possible in all of them.
func writePhases(b *strings.Builder, drawn []arrow) {
	b.WriteString("```mermaid\nflowchart TD\n  subgraph RUNNING\n    direction TB\n")
	places := journey()
	for _, place := range places[1 : len(places)-1] {
		fmt.Fprintf(b, "    %s\n", place)
	}
	b.WriteString("  end\n")
	for _, a := range drawn {
		line := "-->"
		if a.queued {
			line = "-.->"
		}
		fmt.Fprintf(b, "  %s %s|%s| %s\n", a.from, line, a.label()+oneOf(a.queued, ", through QUEUED", ""), a.to)
	}
	b.WriteString("  QUEUED -->|Admitted, in any phase| RUNNING\n" +
		"  RUNNING -->|Waiting| QUEUED\n" +
		"  RUNNING -->|a question, a limit, StopRequested| NEEDS_INPUT\n" +
		"  RUNNING -->|every attempt used up| FAILED\n" +
		"  NEEDS_INPUT -->|Resumed| QUEUED\n" +
		"  FAILED -->|Retried| QUEUED\n" +
		"  RUNNING -->|StopRequested cancel| canceling -->|EnvironmentRemoved| CANCELED\n```\n")
}

func writeStates(b *strings.Builder) {
	b.WriteString("```mermaid\nstateDiagram-v2\n  [*] --> QUEUED\n")
	for _, from := range workflow.States {
		for _, to := range workflow.States {
			if from != to && from.MayBecome(to) {
				fmt.Fprintf(b, "  %s --> %s\n", from, to)
			}
		}
	}
	b.WriteString("  DONE --> [*]\n  CANCELED --> [*]\n```\n")
}

func writePositions(b *strings.Builder) {
	b.WriteString("| phase | step | stage | progress phase | resumed with | optional |\n|---|---|---|---|---|---|\n")
	for _, row := range workflow.Positions {
		optional := oneOf(row.Optional, "yes", "")
		fmt.Fprintf(b, "| %d | %s | %s | %s | %s | %s |\n", row.Phase, row.Step,
			strings.ReplaceAll(stagesOf(row), " ", ", "), row.Progress, row.Resume, optional)
		if row.Phase == workflow.DesignCheck {
			fmt.Fprintf(b, "| %d | %s (%s) | %s | %s | %s | %s |\n", row.Phase, row.Step, setUpPlace, row.Stage,
				workflow.ProgressEnvironmentSetup, row.Resume, optional)
		}
	}
}

func writeTransitions(b *strings.Builder, seen map[edge]bool) {
	order := append(journey(), "canceling", string(workflow.NeedsInput), string(workflow.Failed), string(workflow.Canceled))
	at := func(place string) int { return slices.Index(order, place) }
	all := slices.SortedFunc(maps.Keys(seen), func(x, y edge) int {
		return cmp.Or(at(x.from)-at(y.from), at(x.to)-at(y.to), cmp.Compare(x.event, y.event))
	})
	fmt.Fprintf(b, "%d kinds, in the order of the journey. A row from a place to itself changes the run, but not its place.\n\n", len(all))
	b.WriteString("| from | event | to |\n|---|---|---|\n")
	for i := 0; i < len(all); {
		first, events := all[i], []string{}
		for ; i < len(all) && all[i].from == first.from && all[i].to == first.to; i++ {
			events = append(events, all[i].event)
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", first.from, strings.Join(events, ", "), first.to)
	}
}
