package machine

import (
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/workflow"
)

// The picture's measures, in pixels.
const (
	pictureWidth = 860
	boxWidth     = 230
	boxHeight    = 48
	pitch        = 76 // from the top of one box to the top of the next
	boxLeft      = 300
	boxRight     = boxLeft + boxWidth
	middle       = boxLeft + boxWidth/2
	firstTop     = 84
	firstLane    = boxRight + 150
	laneWidth    = 40
	sideLeft     = 48
	sideWidth    = 160
	bracket      = boxLeft - 26
)

// pictureStyle names every colour twice, for readers in the light and in the dark.
const pictureStyle = `<style>
text{font-family:-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:#1f2328}
.name{font-size:14px;font-weight:600}.doing,.event{font-size:11px;fill:#57606a}.title{font-size:19px;font-weight:600}
.halo{paint-order:stroke;stroke:#ffffff;stroke-width:3px;stroke-linejoin:round}
.paper{fill:#ffffff}.box{fill:#eef4fc;stroke:#4a7ab5;stroke-width:1.4}.optional{stroke-dasharray:5 3}
.stop{fill:#fdf3e1;stroke:#b07a1e}.fail{fill:#fdebec;stroke:#c0444f}.end{fill:#e7f6ea;stroke:#3c8a50}.gone{fill:#eff1f3;stroke:#7a828b}
.ahead{fill:none;stroke:#4a7ab5;stroke-width:1.6}.back{fill:none;stroke:#b07a1e;stroke-width:1.6}.side{fill:none;stroke:#8c959f;stroke-width:1.4}
.queued{stroke-dasharray:5 3}.tip{fill:#4a7ab5}.backtip{fill:#b07a1e}.sidetip{fill:#8c959f}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.doing,.event{fill:#9aa4af}.halo{stroke:#0d1117}.paper{fill:#0d1117}
.box{fill:#13233a;stroke:#6ea4e8}.stop{fill:#2f2411;stroke:#d9a441}.fail{fill:#351a1d;stroke:#e5727c}.end{fill:#12301b;stroke:#5fbf78}
.gone{fill:#1c2128;stroke:#8c959f}.ahead{stroke:#6ea4e8}.back{stroke:#d9a441}.tip{fill:#6ea4e8}.backtip{fill:#d9a441}}
</style>
<defs>
<marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0L10 5L0 10z"/></marker>
<marker id="backtip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto"><path class="backtip" d="M0 0L10 5L0 10z"/></marker>
<marker id="sidetip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto"><path class="sidetip" d="M0 0L10 5L0 10z"/></marker>
</defs>
`

// drawing is the picture being made; at is where a place stands in the column.
type drawing struct {
	strings.Builder
	places []string
}

func (d *drawing) add(format string, args ...any) {
	d.WriteString(fmt.Sprintf(format, args...) + "\n")
}

func (d *drawing) at(place string) int { return slices.Index(d.places, place) }

func top(i int) int { return firstTop + i*pitch }

// picture is the journey as a column of boxes: ahead in the middle, back and
// past on the right, stops on the left.
func picture(arrows []arrow) string {
	d := &drawing{places: journey()}
	height := top(len(d.places)) + 56
	d.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="The journey of a run">`,
		pictureWidth, height, pictureWidth, height)
	d.WriteString(pictureStyle)
	d.add(`<rect class="paper" x="0" y="0" width="%d" height="%d" rx="10"/>`, pictureWidth, height)
	d.add(`<text class="title" x="%d" y="44">From a request to a merged change</text>`, sideLeft)
	d.stops()
	d.arrows(arrows)
	d.boxes()
	d.legend(height - 44)
	d.add(`</svg>`)
	return d.String()
}

func (d *drawing) boxes() {
	for i, place := range d.places {
		class, name, doing := "box", place, ""
		switch phase, ok := workflow.PhaseOf(workflow.StepName(place)); {
		case ok:
			row := phase.Position()
			name, doing = fmt.Sprintf("%d  %s", phase, place), row.Doing
			class += oneOf(row.Optional, " optional", "") + oneOf(phase == workflow.ApprovalWait, " stop", "")
		case place == setUpPlace:
			class, name, doing = "box optional", "3  design-check: setup", "setting the environment up"
		case place == string(workflow.Queued):
			class, doing = "box gone", "waiting for a slot"
		case place == string(workflow.Done):
			class, doing = "box end", "merged"
		}
		d.box(class, boxLeft, top(i), boxWidth, name, doing)
	}
}

func (d *drawing) box(class string, x, y, width int, name, doing string) {
	d.add(`<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="7"/>`, class, x, y, width, boxHeight)
	d.add(`<text class="name" x="%d" y="%d" text-anchor="middle">%s</text>`, x+width/2, y+21, name)
	d.add(`<text class="doing" x="%d" y="%d" text-anchor="middle">%s</text>`, x+width/2, y+37, doing)
}

func (d *drawing) legend(y int) {
	for i, line := range []string{
		"A dashed box is an optional phase; a phase that is left out, or has nothing to do, is passed by.",
		"A dashed arrow leads through QUEUED: a person answers, and the run goes on when it is admitted again.",
	} {
		d.add(`<text class="event" x="%d" y="%d">%s</text>`, sideLeft, y+18*i, line)
	}
}
