package gateway

import (
	"math"
	"regexp"
	"sync"
)

// Price is what a model's tokens cost, in US dollars per million.
type Price struct {
	Input, Output float64
	// Cached is for input read from a cache, Written for input written to one; zero means as Input.
	Cached, Written float64
}

// tokens are those of one answer. Input includes what was read from a cache or written to one.
type tokens struct{ input, read, written, output int64 }

// maxTokens of one answer are believed: more than any model takes, and few enough that sums and
// costs cannot overflow.
const maxTokens = 100_000_000

func believed(n int64) int64 { return min(max(n, 0), maxTokens) }

// bounded is t with figures that can be reckoned with.
func (t tokens) bounded() tokens {
	t = tokens{believed(t.input), believed(t.read), believed(t.written), believed(t.output)}
	t.read = min(t.read, t.input)
	t.written = min(t.written, t.input-t.read)
	return t
}

// cost is in millionths of a US dollar. A dollar per million tokens is a millionth per token; the
// sum is made in millionths of those, in which prices are whole.
func (p Price) cost(t tokens) int64 {
	per := func(usd float64) int64 { return int64(math.Round(usd * 1e6)) }
	cached, written := p.Cached, p.Written
	if cached == 0 {
		cached = p.Input
	}
	if written == 0 {
		written = p.Input
	}
	sum := (t.input-t.read-t.written)*per(p.Input) + t.read*per(cached) + t.written*per(written) + t.output*per(p.Output)
	return (sum + 999_999) / 1_000_000
}

func (p Price) valid() bool {
	const most = 10_000 // US dollars per million tokens; beyond it sums could overflow
	for _, usd := range []float64{p.Input, p.Output, p.Cached, p.Written} {
		if math.IsNaN(usd) || usd < 0 || usd > most {
			return false
		}
	}
	return true
}

// dated is a model's name with the day of its making, which vendors answer with and take, too.
var dated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[-@](20\d{6}|20\d{2}-\d{2}-\d{2})$`) })

// price finds a model under any of the names that it goes by.
func price(table map[string]Price, names ...string) (Price, bool) {
	for _, name := range names {
		if p, ok := table[name]; ok {
			return p, true
		}
		if p, ok := table[dated().ReplaceAllString(name, "")]; ok {
			return p, true
		}
	}
	return Price{}, false
}
