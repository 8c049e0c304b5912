package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"signalbox/internal/app/board"
	"signalbox/internal/workflow"
)

// key is what a key does. The keys that do something now are hinted in the bottom line; all are listed by "?".
type key struct {
	names  []string
	label  string
	where  view
	hinted bool
	// when says whether it does something for the chosen card; nil if it needs none.
	when func(*board.Card) bool
	do   func(*model) tea.Cmd
}

func (k *key) may(m *model) bool {
	if k.when == nil {
		return true
	}
	c := m.card()
	return c != nil && k.when(c)
}

// keys are in the order of the bottom line: what a person came for is first.
var keys []key

func init() { // they call what lists them
	opens := func(v view) func(*model) tea.Cmd { return func(m *model) tea.Cmd { return m.open(v) } }
	scrolls := func(by int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { m.scroll(by); return nil }
	}
	pages := func(by int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { m.scroll(by * max(1, m.bodyHeight()-1)); return nil }
	}
	const far = 1 << 30
	keys = []key{
		{[]string{"a"}, "key-approve", atBoard | atRun, true, func(c *board.Card) bool { return c.Approve != "" }, (*model).approve},
		{[]string{"r"}, "key-reject", atBoard | atRun, true, func(c *board.Card) bool { return c.Approve != "" }, (*model).reject},
		{[]string{"A"}, "key-answer", atBoard | atRun, true, func(c *board.Card) bool { return c.Question != nil }, (*model).answer},
		{[]string{"R"}, "key-go-on", atBoard | atRun, true, goesOn, (*model).goOn},
		{[]string{"s"}, "key-stop", atBoard | atRun, true, func(c *board.Card) bool { return c.Run != nil && c.Run.UnderWay() && !c.Interrupted }, (*model).stop},
		{[]string{"enter"}, "key-show", atBoard, true, anyCard, opens(atDetails)},
		{[]string{"enter"}, "key-attach", atRun, true, hasRun, (*model).attach},
		{[]string{"d"}, "key-diff", atBoard | atRun, true, hasRun, opens(atDiff)},
		{[]string{"l"}, "key-log", atBoard | atRun, true, hasRun, opens(atLog)},
		{[]string{"i"}, "key-details", atLog | atDiff, true, anyCard, opens(atDetails)},
		{[]string{"]", "right"}, "key-next", atLog | atDiff, true, nil, func(m *model) tea.Cmd { return m.part(1) }},
		{[]string{"[", "left"}, "key-previous", atLog | atDiff, false, nil, func(m *model) tea.Cmd { return m.part(-1) }},
		{[]string{"n"}, "key-write", atBoard, true, nil, (*model).write},
		{[]string{"/"}, "key-filter", atBoard, true, nil, (*model).search},
		{[]string{":"}, "key-command", anywhere, true, nil, (*model).enter},
		{[]string{"?"}, "key-keys", anywhere, true, nil, (*model).help},
		{[]string{"esc"}, "key-back", atRun | atText, true, nil, opens(atBoard)},
		{[]string{"esc"}, "key-all", atBoard, false, nil, func(m *model) tea.Cmd { m.filter = ""; m.arrange(); return nil }},
		{[]string{"q"}, "key-quit", anywhere, true, nil, func(*model) tea.Cmd { return tea.Quit }},
		{[]string{"down", "j"}, "key-down", anywhere, false, nil, scrolls(1)},
		{[]string{"up", "k"}, "key-up", anywhere, false, nil, scrolls(-1)},
		{[]string{"pgdown", "space"}, "key-page-down", anywhere, false, nil, pages(1)},
		{[]string{"pgup", "b"}, "key-page-up", anywhere, false, nil, pages(-1)},
		{[]string{"home", "g"}, "key-first", anywhere, false, nil, scrolls(-far)},
		{[]string{"end", "G"}, "key-last", anywhere, false, nil, scrolls(far)},
	}
	for i, c := range board.Columns {
		keys = append(keys, key{[]string{string(rune('1' + i))}, columns[c].name, atBoard, false, nil, func(m *model) tea.Cmd { m.column(c); return nil }})
	}
}

func anyCard(*board.Card) bool { return true }

func hasRun(c *board.Card) bool { return c.Run != nil }

// goesOn: the run can be begun, resumed or tried again.
func goesOn(c *board.Card) bool {
	if c.Run == nil {
		return c.Problem == "" && !c.Closed
	}
	return c.Interrupted || c.Run.Details.ParkedUntil != nil || c.Approve == "" && c.Question == nil && !c.Run.UnderWay() && c.Run.State != workflow.Done
}

// twoColumns is from how many columns of the screen on the keys are listed side by side.
const twoColumns = 76

// help lists all keys, each once.
func (m *model) help() tea.Cmd {
	p := &pane{title: m.say("keys")}
	var names, labels []string
	for i := range keys {
		k := &keys[i]
		name := strings.Join(k.names, ", ")
		if at := slices.Index(names, name); at >= 0 {
			labels[at] += " / " + m.say(k.label)
		} else if i < len(keys)-len(board.Columns) {
			names, labels = append(names, name), append(labels, m.say(k.label))
		}
	}
	names, labels = append(names, "1–5", "ctrl+z"), append(labels, m.say("key-column"), m.say("key-suspend"))
	rows, width := len(names), m.width
	if m.width >= twoColumns {
		rows, width = (rows+1)/2, m.width/2
	}
	for i := range rows {
		line := ""
		for at := i; at < len(names); at += rows {
			line += fit("  "+fit(names[at], 14)+labels[at], width)
		}
		p.texts = append(p.texts, text{plain, line})
	}
	m.show(atText, p)
	return nil
}
