package machine

import (
	"cmp"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/workflow"
)

var update = flag.Bool("update", false, "write the generated documents anew")

// TestStateMachine draws docs/state-machine.md and its picture from what the
// walks saw. Without -update it fails when they are stale.
func TestStateMachine(t *testing.T) {
	t.Parallel()
	seen := map[edge]bool{}
	for _, w := range walks(t) {
		maps.Copy(seen, w.edges)
	}
	if len(seen) == 0 {
		t.Fatal("the walks saw nothing")
	}
	drawn := journeyArrows(t, seen)
	for name, text := range map[string]string{"state-machine.md": document(seen, drawn), "state-machine.svg": picture(drawn)} {
		file := filepath.Join("..", "..", "..", "docs", name)
		if *update {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		found, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(found) != text {
			t.Errorf("docs/%s is stale: go test ./internal/workflow/machine -run StateMachine -update", name)
		}
	}
}

const setUpPlace = "setup"

// journey lists the places of a run that goes well, in order.
func journey() (places []string) {
	places = append(places, string(workflow.Queued))
	for _, row := range workflow.Positions {
		places = append(places, string(row.Step))
		if row.Phase == workflow.DesignCheck {
			places = append(places, setUpPlace)
		}
	}
	return append(places, string(workflow.Done))
}

// arrow is a drawn edge. One through the queue stands for two transitions: a
// person's order, then the admission.
type arrow struct {
	from, to string
	events   []string
	queued   bool
}

// journeyArrows are the edges worth drawing: of each event the way to the
// nearest place ahead (a longer one passes phases by that are left out), unless
// there is one back, and every way back. Stops are drawn once for all.
func journeyArrows(t *testing.T, seen map[edge]bool) []arrow {
	t.Helper()
	places := journey()
	at := func(place string) int { return slices.Index(places, place) }
	nearest := map[[2]string]int{}
	for e := range seen {
		from, to, key := at(e.from), at(e.to), [2]string{e.from, e.event}
		if from > 0 && to > 0 && to != from && (nearest[key] == 0 || to < nearest[key]) {
			nearest[key] = to
		}
	}
	events := map[[2]string][]string{{string(workflow.Queued), places[1]}: {"Admitted"}}
	for e := range seen {
		from, to := at(e.from), at(e.to)
		if from > 0 && to > 0 && (to < from || to > from && nearest[[2]string{e.from, e.event}] == to) {
			key := [2]string{e.from, e.to}
			events[key] = append(events[key], e.event)
		}
	}
	var arrows []arrow
	for key, names := range events {
		slices.Sort(names)
		arrows = append(arrows, arrow{from: key[0], to: key[1], events: names})
	}
	for _, a := range []arrow{{"approval-wait", "pr-create", []string{"Approved"}, true}, {"approval-wait", "review-fix", []string{"Rejected"}, true}} {
		if !seen[edge{a.from, string(workflow.Queued), a.events[0]}] || !seen[edge{string(workflow.Queued), a.to, "Admitted"}] {
			t.Fatalf("nothing leads from %s to %s by %s", a.from, a.to, a.events)
		}
		arrows = append(arrows, a)
	}
	slices.SortFunc(arrows, func(a, b arrow) int {
		return cmp.Or(at(a.from)-at(b.from), at(a.to)-at(b.to), strings.Compare(oneOf(a.queued, "b", "a"), oneOf(b.queued, "b", "a")))
	})
	return arrows
}

// label names an event once, whatever it may say.
func (a arrow) label() string {
	label := a.events[0]
	for i, event := range a.events[1:] {
		if before, _, _ := strings.Cut(a.events[i], " "); strings.HasPrefix(event, before+" ") {
			label += " or" + strings.TrimPrefix(event, before)
		} else {
			label += " or " + event
		}
	}
	return label
}
