package web

import (
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"

	"signalbox/internal/access"
)

// A page follows a stream of events, and each names what the page shows after it, in words of the documents alone: a page that comes back with the last
// name is sent all that changed since, also by another process. Fragments replace the elements with their ids, so one that comes twice changes
// nothing. A client that doesn't read misses no change either: it is sent what is, not what was.

// stream is one page's stream of events.
type stream struct {
	v *visit
	*http.ResponseController
}

// beat is how often a stream without news proves that it is alive, and finds out that the page is gone.
const beat = 20 * time.Second

func (v *visit) stream() (*stream, error) {
	h := v.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	s := &stream{v, http.NewResponseController(v.w)}
	return s, s.send("hello", "", struct {
		Version string `json:"version"`
	}{version()})
}

// errNotLetIn ends the stream of a user who is no longer let in.
var errNotLetIn = errors.New("the user is no longer let in")

// send sends an event. Its data is JSON on one line.
func (s *stream) send(name, id string, data any) error {
	if !access.Still(s.v.r.Context()) {
		return errNotLetIn
	}
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("write an event: %w", err)
	}
	if strings.ContainsFunc(id, unicode.IsControl) {
		id = "" // a line break would begin a line of its own
	}
	if id != "" {
		id = "id: " + id + "\n"
	}
	if _, err = fmt.Fprintf(s.v.w, "event: %s\n%sdata: %s\n\n", name, id, text); err == nil {
		err = s.Flush()
	}
	return err
}

// waits waits for news from anywhere, and reports whether the page is still there and its user let in.
func (s *stream) waits(news, more <-chan struct{}) bool {
	for {
		timer := time.NewTimer(beat)
		select {
		case <-s.v.r.Context().Done():
			timer.Stop()
			return false
		case <-news:
			timer.Stop()
			return true
		case <-more:
			timer.Stop()
			return true
		case <-timer.C:
			if !access.Still(s.v.r.Context()) {
				return false
			}
			if _, err := fmt.Fprint(s.v.w, ":\n\n"); err != nil || s.Flush() != nil {
				return false
			}
		}
	}
}

// boardNews is what changed on a board.
type boardNews struct {
	Cards   map[string]template.HTML `json:"cards,omitempty"`
	Columns map[string]columnNews    `json:"columns,omitempty"`
}

type columnNews struct {
	Order [][2]string `json:"order"`
	Total int         `json:"total"`
}

// overlap is how much before the page's last event is looked at again: runs are saved by processes that don't wait for each other.
const overlap = 10 * time.Second

// boardEvents follows a board.
func (v *visit) boardEvents() error {
	all, ends, err := v.looks()
	if err != nil {
		return err
	}
	defer ends()
	news := make(chan struct{}, 1)
	for _, w := range all {
		defer w.wake(news)()
	}
	since := v.since(len(all))
	pick := v.pick()
	s, err := v.stream()
	if err != nil {
		return nil // it has gone
	}
	turns := make([]uint64, len(all))
	orders := map[string]string{}
	for first := true; first || s.waits(news, nil); first = false {
		id := cursor(all) // of before the look: what changes meanwhile comes again
		by := map[*card]*watched{}
		var cards []*card
		changed := map[*card]bool{}
		for i, w := range all {
			some, turn, _ := w.all()
			for _, c := range some {
				by[c] = w
				changed[c] = first && (since == nil || c.Since.IsZero() || c.Since.After(since[i])) || !first && c.turn > turns[i]
			}
			cards, turns[i] = append(cards, some...), turn
		}
		n := boardNews{Cards: map[string]template.HTML{}, Columns: map[string]columnNews{}}
		for i, w := range pick.windows(cards) {
			c := columnNews{Order: [][2]string{}, Total: w.total}
			ids := strconv.Itoa(w.total)
			for _, card := range w.cards {
				c.Order = append(c.Order, [2]string{card.id, card.version})
				ids += " " + card.id
				if changed[card] {
					n.Cards[card.id] = by[card].shown(v.lang, card)
				}
			}
			if name := columns[i].name; first || orders[name] != ids {
				n.Columns[name] = c
				for _, o := range c.Order { // a card that comes into the page is sent, whether or not it changed
					if !first && !strings.Contains(orders[name]+" ", " "+o[0]+" ") {
						if card := cardWith(w.cards, o[0]); card != nil {
							n.Cards[o[0]] = by[card].shown(v.lang, card)
						}
					}
				}
				orders[name] = ids
			}
		}
		if first || len(n.Cards)+len(n.Columns) > 0 {
			if s.send("board", id, n) != nil {
				return nil
			}
		}
	}
	return nil
}

func cardWith(cards []*card, id string) *card {
	for _, c := range cards {
		if c.id == id {
			return c
		}
	}
	return nil
}

// since is what the page shows already, by project; nil if it shows nothing.
func (v *visit) since(projects int) []time.Time {
	marks := strings.Split(v.last(), ".")
	if len(marks) != projects {
		return nil
	}
	at := make([]time.Time, projects)
	for i, mark := range marks {
		n, err := strconv.ParseInt(mark, 36, 64)
		if err != nil {
			return nil
		}
		at[i] = time.Unix(0, n).Add(-overlap)
	}
	return at
}
