package machine

import (
	"cmp"
	"slices"
)

// arrows draws the steps ahead in the column, everything else on lanes beside
// it. Ways to the same place share a lane.
func (d *drawing) arrows(arrows []arrow) {
	var beside [][]arrow
	for _, a := range arrows {
		same := func(group []arrow) bool { return group[0].to == a.to && d.ways(group[0]) == d.ways(a) }
		switch i := slices.IndexFunc(beside, same); {
		case d.at(a.to) == d.at(a.from)+1:
			d.ahead(a)
		case i >= 0:
			beside[i] = append(beside[i], a)
		default:
			beside = append(beside, []arrow{a})
		}
	}
	slices.SortStableFunc(beside, func(a, b []arrow) int { return cmp.Compare(d.span(a), d.span(b)) })
	var taken [][][]arrow // by lane, from the column outwards
	exits := map[string]int{}
	var labels []func()
	for _, group := range beside {
		lane := slices.IndexFunc(taken, func(lane [][]arrow) bool {
			return !slices.ContainsFunc(lane, func(other []arrow) bool { return d.overlap(group, other) })
		})
		if lane < 0 {
			lane, taken = len(taken), append(taken, nil)
		}
		taken[lane] = append(taken[lane], group)
		for _, a := range group {
			y := top(d.at(a.from)) + 27 + 17*exits[a.from]
			exits[a.from]++
			d.line(lane, y, a)
			labels = append(labels, func() { d.add(`<text class="event halo" x="%d" y="%d">%s</text>`, boxRight+16, y-5, a.label()) })
		}
	}
	for _, draw := range labels { // last, so that no line runs through one
		draw()
	}
}

// ways tells forth from back.
func (d *drawing) ways(a arrow) int { return cmp.Compare(d.at(a.from), d.at(a.to)) }

func (d *drawing) ahead(a arrow) {
	y := top(d.at(a.from)) + boxHeight
	class := "ahead" + oneOf(a.queued, " queued", "")
	d.add(`<path class="%s" marker-end="url(#tip)" d="M%d %dV%d"/>`, class, middle, y, y+pitch-boxHeight-1)
	d.add(`<text class="event" x="%d" y="%d">%s</text>`, middle+9, y+18, a.label())
}

// reach is the part of the column that a lane is taken for.
func (d *drawing) reach(group []arrow) (first, last int) {
	first, last = d.at(group[0].to), d.at(group[0].to)
	for _, a := range group {
		first, last = min(first, d.at(a.from)), max(last, d.at(a.from))
	}
	return first, last
}

func (d *drawing) span(group []arrow) int {
	first, last := d.reach(group)
	return last - first
}

func (d *drawing) overlap(a, b []arrow) bool {
	firstA, lastA := d.reach(a)
	firstB, lastB := d.reach(b)
	return firstA <= lastB && firstB <= lastA
}

// line leaves a box at y and enters one near its top.
func (d *drawing) line(lane, y int, a arrow) {
	class, tip := "back", "backtip"
	if d.ways(a) < 0 {
		class, tip = "ahead", "tip"
	}
	class += oneOf(a.queued, " queued", "")
	d.add(`<path class="%s" marker-end="url(#%s)" d="M%d %dH%dV%dH%d"/>`, class, tip, boxRight, y,
		firstLane+lane*laneWidth, top(d.at(a.to))+8, boxRight+1)
}

// stops draws, once for all phases, where a run stands still and how it goes on.
func (d *drawing) stops() {
	first, last := top(1), top(len(d.places)-2)+boxHeight
	d.add(`<path class="side" d="M%d %dH%dV%dH%d"/>`, boxLeft-8, first, bracket, last, boxLeft-8)
	for _, stop := range []struct {
		class, name, doing, why, resumed string
		at                               int
	}{
		{"box stop", "NEEDS_INPUT", "a person must act", "a question, a limit or a stop", "Resumed", 5},
		{"box fail", "FAILED", "every attempt used up", "an agent or the tests", "Retried", 8},
		{"box gone", "CANCELED", "given up, work kept", "StopRequested cancel", "", 12},
	} {
		y := top(stop.at)
		d.add(`<path class="side" marker-end="url(#sidetip)" d="M%d %dH%d"/>`, bracket, y+boxHeight/2, sideLeft+sideWidth+1)
		d.add(`<text class="event" x="%d" y="%d">%s</text>`, sideLeft, y+boxHeight+16, stop.why)
		if stop.resumed != "" {
			x := sideLeft - 20 // past the boxes that are higher up
			d.add(`<path class="side" marker-end="url(#sidetip)" d="M%d %dH%dV%dH%d"/>`, sideLeft, y+boxHeight/2, x, top(0)+boxHeight/2, boxLeft-1)
			d.add(`<text class="event" x="%d" y="%d">%s</text>`, x+6, y-8, stop.resumed)
		}
		d.box(stop.class, sideLeft, y, sideWidth, stop.name, stop.doing)
	}
}
