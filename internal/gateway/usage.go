package gateway

import (
	"slices"
	"time"

	"signalbox/internal/agent"
)

// Report is what a session used.
type Report struct {
	// Usage is all of it. Its cost is of the models that have a price.
	Usage agent.Usage
	// Models is the same by the name of the model that was requested.
	Models map[string]agent.Usage
	// Estimated is how many of the tokens are a guess, by the size of answers that were broken off.
	Estimated int64
	// Unpriced are the models without a price: of them only tokens are counted.
	Unpriced []string
	// Requests counts those for an answer of a model, failed ones too.
	Requests int64
	// First and Last are when the first and the last byte of answers came; zero if none did.
	First, Last time.Time
}

// usage counts a session. Costs are whole millionths here.
type usage struct {
	Report
	microUSD map[string]int64
}

func newUsage() usage {
	return usage{Report: Report{Models: map[string]agent.Usage{}}, microUSD: map[string]int64{}}
}

// maxModels are counted one by one; an agent that makes up names gets no more.
const maxModels = 50

// otherModels is the name of the rest.
const otherModels = "(others)"

// known is the name under which a model is counted.
func (u *usage) known(model string) string {
	if _, there := u.Models[model]; there || len(u.Models) < maxModels && isModel(model) {
		return model
	}
	return otherModels
}

// isModel is what may be a model's name in a request: it is printed later.
func isModel(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}

// share is what one answer adds.
type share struct {
	tokens   tokens
	guessed  int64
	microUSD int64
	unpriced bool
}

func (s share) spending() Spending {
	return Spending{Tokens: s.tokens.input + s.tokens.output, CostMicroUSD: s.microUSD}
}

// replace puts now in the place of what was counted of the same answer before.
func (u *usage) replace(model string, before, now share) {
	u.Estimated += now.guessed - before.guessed
	u.microUSD[model] += now.microUSD - before.microUSD
	m := u.Models[model]
	m.InputTokens += now.tokens.input - before.tokens.input
	m.CachedTokens += now.tokens.read + now.tokens.written - before.tokens.read - before.tokens.written
	m.OutputTokens += now.tokens.output - before.tokens.output
	m.CostUSD = float64(u.microUSD[model]) / 1e6
	u.Models[model] = m
	if now.unpriced && !slices.Contains(u.Unpriced, model) {
		u.Unpriced = append(u.Unpriced, model)
	}
	u.sum()
}

func (u *usage) sum() {
	u.Usage = agent.Usage{}
	total := int64(0)
	for name, m := range u.Models {
		total += u.microUSD[name]
		u.Usage = u.Usage.Add(m)
	}
	u.Usage.CostUSD = float64(total) / 1e6
}
