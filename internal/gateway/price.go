package gateway

import (
	"math"

	"signalbox/internal/lazy"
)

// Price is the price of a model's tokens, in US dollars per million.
type Price struct {
	Input, Output float64
	// Cached is for input read from a cache, Written for input written to one; zero means the same as Input.
	Cached, Written float64
}

// tokens are those of one answer. input includes what was read from a cache or written to one.
type tokens struct{ input, read, written, output int64 }

// maxTokens is the largest count per answer that is believed: more than any model takes, and low enough that sums and costs can't overflow.
const maxTokens = 100_000_000

func believed(n int64) int64 { return min(max(n, 0), maxTokens) }

// bounded limits each count to the range from 0 to maxTokens.
func (t tokens) bounded() tokens {
	t = tokens{believed(t.input), believed(t.read), believed(t.written), believed(t.output)}
	t.read = min(t.read, t.input)
	t.written = min(t.written, t.input-t.read)
	return t
}

// cost returns millionths of a US dollar. A dollar per million tokens is a millionth per token; the sum is computed in millionths of those, in
// which prices are integers.
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

// dated matches the release date at the end of a model's name, which vendors add in answers and accept in requests.
var dated = lazy.Pattern(`[-@](20\d{6}|20\d{2}-\d{2}-\d{2})$`)

// price finds a model under any of its names.
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
