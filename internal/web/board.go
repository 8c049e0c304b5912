package web

import (
	"errors"
	"fmt"
	"hash/fnv"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/app/board"
	"signalbox/internal/language"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// columns are the board's, by the names that pages give them, with how many cards each shows at a time.
var columns = []struct {
	column board.Column
	name   string
	page   int
}{{board.NeedsYou, "needs", 100}, {board.Working, "working", 250}, {board.Waiting, "waiting", 50}, {board.Ready, "ready", 50}, {board.Done, "done", 25}}

// kinds are what people filter cards by.
const (
	kindAll      = "all"
	kindApproval = "approval"
	kindQuestion = "question"
	kindFailed   = "failed"
	kindStopped  = "stopped"
)

var kinds = []string{kindAll, kindApproval, kindQuestion, kindFailed, kindStopped}

// cardView is what the template of a card shows.
type cardView struct {
	ID, Version, Kind, Href, Project, Title, Doing, Reason, State, Phase string
	Number, Percent                                                      int
	Since                                                                time.Time
	Unsandboxed                                                          bool
	Orders                                                               []order
}

// view is the card in a language.
func (w *watched) view(l language.Language, c *card) cardView {
	v := cardView{ID: c.id, Version: c.version, Kind: kindOf(&c.Card), Href: w.project.runPath(c.RequestID), Title: line(w.app, c.Title, 200), Number: c.Number,
		Doing: line(w.app, c.Message, 300), Phase: c.Phase, Since: c.Since, Unsandboxed: c.Unsandboxed, Percent: c.Percent}
	if len(w.project.site.names) > 1 {
		v.Project = w.project.name
	}
	r := c.Run
	switch {
	case c.Problem != "":
		v.Doing, v.State = line(w.app, c.Problem, 300), l.Page("problem")
	case r == nil && c.Closed:
		v.State = l.State(workflow.Done)
	case r == nil:
		if v.State = l.Page("not-begun"); w.unready == nil {
			v.Orders = []order{w.project.orderOf(l, c.RequestID, "run", nil, "order-run")}
		}
	default:
		v.State = l.State(r.State)
		if r.State.Final() {
			v.Percent, v.Phase = 0, ""
		}
		if c.Interrupted {
			v.Doing = l.Page("interrupted")
		} else if r.State == workflow.Running && r.Details.Question == nil && l != language.English {
			v.Doing = l.Doing(r.Details.Phase)
		} else if q := r.Details.Question; q != nil {
			v.Doing = line(w.app, q.Line1(), 300)
		}
		if r.Error != nil {
			v.Reason = line(w.app, r.Error.ReasonCode, 80)
			v.Doing = line(w.app, r.Error.Title, 300)
			if l != language.English && r.Error.ReasonCode == workflow.ApprovalRequired {
				v.Doing = l.Doing(r.Details.Phase)
			}
		}
		v.Orders = w.project.orders(l, w.app, r, c.Next, true)
	}
	return v
}

// kindOf is what the card is filtered by.
func kindOf(c *board.Card) string {
	r := c.Run
	switch {
	case c.Approve != "":
		return kindApproval
	case c.Question != nil:
		return kindQuestion
	case r != nil && r.State == workflow.Failed, c.Problem != "":
		return kindFailed
	case c.Column == board.NeedsYou:
		return kindStopped
	}
	return string(c.Column)
}

// windowed is a part of a column that one page shows.
type windowed struct {
	cards          []*card
	total          int
	earlier, later string
}

// pickOf is which cards the visitor asked for.
type pickOf struct {
	query url.Values
	words []string
}

func (v *visit) pick() pickOf {
	q := v.r.URL.Query()
	return pickOf{q, strings.Fields(strings.ToLower(q.Get("q")))}
}

func (p *pickOf) wants(c *card) bool {
	if kind := p.query.Get("kind"); kind != "" && kind != kindAll && kindOf(&c.Card) != kind {
		return false
	}
	searched := strings.ToLower(fmt.Sprintf("%s #%d %s %s %s %s", c.RequestID, c.Number, c.Title, c.Message, c.Phase, c.State))
	return !slices.ContainsFunc(p.words, func(w string) bool { return !strings.Contains(searched, w) })
}

// windows are the columns as the visitor asked for them.
func (p *pickOf) windows(all []*card) []windowed {
	found := make([]windowed, len(columns))
	for i, c := range columns {
		var cards []*card
		for _, card := range all {
			if card.Column == c.column && (len(p.words) == 0 && p.query.Get("kind") == "" || p.wants(card)) {
				cards = append(cards, card)
			}
		}
		at, _ := strconv.Atoi(p.query.Get(c.name))
		at = max(0, min(at, (len(cards)-1)/c.page))
		w := windowed{total: len(cards), cards: cards[at*c.page : min(len(cards), (at+1)*c.page)]}
		if (at+1)*c.page < len(cards) {
			w.earlier = p.at(c.name, at+1)
		}
		if at > 0 {
			w.later = p.at(c.name, at-1)
		}
		found[i] = w
	}
	return found
}

// at is the address of another page of a column.
func (p *pickOf) at(column string, page int) string {
	q := url.Values{}
	for name, values := range p.query {
		if name != "last" {
			q[name] = values
		}
	}
	q.Set(column, strconv.Itoa(page))
	return "?" + q.Encode()
}

type columnView struct {
	Name           string
	Total          int
	Cards          []template.HTML
	Earlier, Later string
}

// notice says above the columns what is wrong with a project, and what to do about it.
type notice struct{ Project, Title, What, Hint string }

// notice is about err; p is nil if the project can't be opened.
func (pr *project) notice(title string, err error, p *app.App) *notice {
	n := &notice{Project: pr.name, Title: title, What: err.Error()}
	if e := (*problem.Error)(nil); errors.As(err, &e) {
		n.Hint = e.Hint
	}
	clean := redact.Joined
	if p != nil {
		clean = func(s string, limit int) string { return redact.Cut(text(p, s), limit) }
	}
	n.What, n.Hint = clean(n.What, 4000), clean(n.Hint, 1000)
	return n
}

// board shows one project, or all of them. One that can't be opened hides no other.
func (v *visit) board() (page, error) {
	all, closed, ends, err := v.opens()
	if err != nil {
		return page{}, err
	}
	defer ends()
	pick := v.pick()
	content := struct {
		Query   string
		Notices []*notice
		Filters []string
		Columns []columnView
	}{Query: pick.query.Get("q"), Notices: closed, Filters: kinds}
	by := map[*card]*watched{}
	var cards []*card
	for _, w := range all {
		some, _, broken := w.all()
		if w.unready != nil {
			content.Notices = append(content.Notices, w.unready)
		}
		if broken != "" {
			content.Notices = append(content.Notices, &notice{Project: w.project.name, Title: "broken-requests", What: broken})
		}
		for _, c := range some {
			by[c] = w
		}
		cards = append(cards, some...)
	}
	for i, w := range pick.windows(cards) {
		c := columnView{Name: columns[i].name, Total: w.total, Earlier: w.earlier, Later: w.later}
		for _, card := range w.cards {
			c.Cards = append(c.Cards, by[card].shown(v.lang, card))
		}
		content.Columns = append(content.Columns, c)
	}
	events := "/events"
	if v.project != nil {
		events = v.path("events")
	}
	return page{Title: v.Say("board"), Name: "board", Events: events, Last: cursor(all), Content: content}, nil
}

// looks opens the project of the visit, or all that can be opened.
func (v *visit) looks() (all []*watched, end func(), err error) {
	all, _, end, err = v.opens()
	return all, end, err
}

// opens is looks with why the others can't be opened.
func (v *visit) opens() (all []*watched, closed []*notice, end func(), err error) {
	names := v.names
	if v.project != nil {
		names = []string{v.project.name}
	}
	if v.user.Only != "" {
		return nil, nil, nil, errForbidden{}
	}
	var ends []func()
	end = func() {
		for _, e := range ends {
			e()
		}
	}
	for _, name := range names {
		w, left, err := v.projects[name].look()
		switch {
		case err != nil && len(names) > 1:
			closed = append(closed, v.projects[name].notice("unready", err, nil))
			continue
		case err != nil:
			return nil, nil, nil, fmt.Errorf("open %s: %w", name, err)
		}
		all, ends = append(all, w), append(ends, left)
	}
	return all, closed, end, nil
}

// cursor names what a board shows: the newest transition of each project.
func cursor(all []*watched) string {
	var marks []string
	for _, w := range all {
		mark := int64(0)
		if at := w.watermark(); !at.IsZero() {
			mark = at.UnixNano()
		}
		marks = append(marks, strconv.FormatInt(mark, 36))
	}
	return strings.Join(marks, ".")
}

// fingerprint is short, and another one for other words.
func fingerprint(words ...string) string {
	h := fnv.New32a()
	for _, w := range words {
		_, _ = h.Write([]byte(w + "\x00"))
	}
	return strconv.FormatUint(uint64(h.Sum32()), 36)
}
