package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"signalbox/internal/app"
	"signalbox/internal/app/board"
)

// view is what the screen shows.
type view int

const (
	atBoard view = 1 << iota
	atDetails
	atLog
	atDiff
	atText // the keys, or what a command printed
)

const (
	atRun    = atDetails | atLog | atDiff
	anywhere = atBoard | atRun | atText
)

type model struct {
	Config
	ctx     context.Context
	look    *app.App
	changes <-chan string
	// drawn is told that something may have to be drawn.
	drawn func()

	width, height int
	loaded        bool
	cards         []board.Card
	rows          []row
	// at is the row of the chosen card, a request's id.
	at, top int
	chosen  string
	filter  string
	view    view
	pane    *pane
	ask     *ask
	note    note
	// warning is why no request can be run in this project, or why some can't be read; it is shown while there is no other news.
	warning string
	// attaches: a session worked on the chosen request when it was opened.
	attaches bool
}

// row is a line of the board: a card, or a column's heading if card is nil.
type row struct {
	column board.Column
	card   *board.Card
}

// note is the last news for the person: of an order, or an error.
type note struct {
	text string
	tone tone
}

// cardsRead has the cards as they are now, or only those in some.
type cardsRead struct {
	all    []board.Card
	some   map[string]*board.Card // nil for a card that is gone
	broken error
	err    error
}

// minute has relative times drawn anew.
type minute struct{}

func everyMinute() tea.Cmd { return tea.Tick(time.Minute, func(time.Time) tea.Msg { return minute{} }) }

func (m *model) Init() tea.Cmd {
	m.view = atBoard
	return tea.Batch(m.readAll, everyMinute())
}

// gathered is how long changes are gathered until they are read together, and atOnce how many cards are read one by one.
const (
	gathered = 50 * time.Millisecond
	atOnce   = 30
)

func (m *model) readAll() tea.Msg {
	cards, broken, err := board.Read(m.ctx, m.look)
	return cardsRead{all: cards, broken: broken, err: err}
}

// readChanged waits for changes and reads the cards that they concern.
func (m *model) readChanged() tea.Msg {
	id, open := <-m.changes
	if !open {
		return nil
	}
	ids := map[string]bool{id: true}
	for enough := time.After(gathered); enough != nil; {
		select {
		case id, open := <-m.changes:
			if !open {
				return nil
			}
			ids[id] = true
		case <-enough:
			enough = nil
		}
	}
	if ids[""] || len(ids) > atOnce {
		return m.readAll()
	}
	read := cardsRead{some: map[string]*board.Card{}}
	for id := range ids {
		card, ok, err := board.One(m.ctx, m.look, id)
		if err != nil {
			read.err = err
		} else if read.some[id] = nil; ok {
			read.some[id] = &card
		}
	}
	return read
}

// take puts cards that were read on the board.
func (m *model) take(read cardsRead) {
	switch err := read.err; {
	case err != nil:
		m.fail(err)
	case read.some == nil:
		m.warning = ""
		if broken := errors.Join(m.look.Unready(), read.broken); broken != nil {
			m.warning = m.line(explained(broken))
		}
	}
	if read.some == nil && read.err == nil {
		m.cards = read.all
	}
	if read.some != nil {
		m.cards = slices.DeleteFunc(m.cards, func(c board.Card) bool { _, changed := read.some[c.RequestID]; return changed })
		for _, c := range read.some {
			if c != nil {
				m.cards = append(m.cards, *c)
			}
		}
		slices.SortStableFunc(m.cards, board.Compare)
	}
	m.loaded = true
	m.arrange()
	if m.view == atDetails {
		m.pane.replace(m.details(m.card()))
	}
}

// arrange makes the rows of the cards that the filter shows. The chosen card stays chosen.
func (m *model) arrange() {
	m.rows = m.rows[:0]
	found := -1
	for i := range m.cards {
		c := &m.cards[i]
		if !m.matches(c) {
			continue
		}
		if n := len(m.rows); n == 0 || m.rows[n-1].column != c.Column {
			m.rows = append(m.rows, row{column: c.Column})
		}
		if c.RequestID == m.chosen {
			found = len(m.rows)
		}
		m.rows = append(m.rows, row{c.Column, c})
	}
	switch {
	case found >= 0:
		m.at = found
	case m.view == atBoard || m.chosen == "":
		m.move(0)
	}
}

func (m *model) matches(c *board.Card) bool {
	if m.filter == "" {
		return true
	}
	text := strings.ToLower(strings.Join([]string{"#" + numberOf(c), c.Title, string(c.State), c.Phase, c.Message, c.RequestID}, " "))
	for _, word := range strings.Fields(strings.ToLower(m.filter)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// card is the chosen one, nil if there is none.
func (m *model) card() *board.Card {
	if i := slices.IndexFunc(m.cards, func(c board.Card) bool { return c.RequestID == m.chosen }); i >= 0 {
		return &m.cards[i]
	}
	return nil
}

// choose chooses the card of a row.
func (m *model) choose(i int) {
	m.at, m.chosen = i, m.rows[i].card.RequestID
}

// move chooses a card so many rows below, or above.
func (m *model) move(by int) {
	m.at = min(max(m.at+by, 0), max(len(m.rows)-1, 0))
	if len(m.rows) == 0 {
		m.chosen = ""
		return
	}
	if m.rows[m.at].card == nil && (by >= 0 || m.at == 0) { // below each heading is a card
		m.at++
	} else if m.rows[m.at].card == nil {
		m.at--
	}
	m.choose(m.at)
}

// column chooses the first card of a column.
func (m *model) column(c board.Column) {
	if i := slices.IndexFunc(m.rows, func(r row) bool { return r.column == c && r.card != nil }); i >= 0 {
		m.choose(i)
		m.top = i - 1
	}
}

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	return m, m.update(msg)
}

func (m *model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.pane.resize(m.width)
	case tea.KeyPressMsg:
		return m.pressed(msg)
	case tea.PasteMsg:
		if m.ask != nil {
			m.ask.typed(msg.Content)
		}
	case tea.MouseWheelMsg:
		switch msg.Button {
		case tea.MouseWheelUp:
			m.scroll(-3)
		case tea.MouseWheelDown:
			m.scroll(3)
		}
	case tea.MouseClickMsg:
		return m.clicked(msg.X, msg.Y)
	case minute:
		return everyMinute()
	case cardsRead:
		m.take(msg)
		return m.readChanged
	case asks:
		if msg.err != nil {
			m.fail(msg.err)
			return nil
		}
		m.ask, m.note = msg.ask, note{}
	case ordered:
		if m.note = (note{msg.said, good}); msg.err != nil {
			m.fail(msg.err)
		}
	case read:
		return m.pane.take(msg)
	case leaves:
		return tea.Exec(&foreground{ctx: m.ctx, args: append([]string{m.Program}, msg.args...), env: m.Env}, func(err error) tea.Msg { return ordered{err: err} })
	}
	return nil
}

// pressed does what a key is for.
func (m *model) pressed(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch {
	case name == "ctrl+c":
		return tea.Quit
	case name == "ctrl+z":
		return tea.Suspend
	case m.ask != nil:
		return m.answered(name, k.Text)
	}
	for i := range keys {
		key := &keys[i]
		if key.where&m.view == 0 || !slices.Contains(key.names, name) {
			continue
		}
		if key.may(m) {
			m.note = note{}
			return key.do(m)
		}
		if c := m.card(); c != nil && c.Run == nil && !c.Closed {
			m.note = note{m.say("not-begun"), plain}
		}
	}
	return nil
}

// scroll moves the board, or what a pane shows.
func (m *model) scroll(by int) {
	if m.view == atBoard {
		m.move(by)
		return
	}
	m.pane.scroll(by, m.bodyHeight())
}

// clicked chooses the card at a place of the board, and opens it if it was chosen already.
func (m *model) clicked(x, y int) tea.Cmd {
	i := m.top + y - 1
	if m.view != atBoard || m.ask != nil || y < 1 || y > m.bodyHeight() || x >= m.boardWidth() || i >= len(m.rows) || m.rows[i].card == nil {
		return nil
	}
	if m.at == i {
		return m.open(atDetails)
	}
	m.choose(i)
	return nil
}

func (m *model) say(name string, args ...any) string { return m.Language.Page(name, args...) }
