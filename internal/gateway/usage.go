package gateway

import (
	"slices"
	"strings"
	"time"

	"signalbox/internal/agent"
)

// Report is what a session used.
type Report struct {
	// Usage is the total. Its cost covers only models with a price.
	Usage agent.Usage
	// Models is the usage by the name of the requested model.
	Models map[string]agent.Usage
	// Estimated is how many tokens are a guess, made by the size of answers that were cut off.
	Estimated int64
	// Unpriced are the models without a price; only their tokens are counted.
	Unpriced []string
	// Requests counts requests that a model answers, including failed ones.
	Requests int64
	// First and Last are when the first and the last byte of answers arrived; zero if none did.
	First, Last time.Time
}

// usage counts a session. Costs are integers in millionths of a dollar.
type usage struct {
	Report
	microUSD map[string]int64
}

// maxModels is how many models are counted separately, in case an agent invents names.
const maxModels = 50

// otherModels is the name for the rest.
const otherModels = "(others)"

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

// replace replaces the earlier count of an answer. A model that a request can't name is counted with the rest: names are printed later.
func (u *usage) replace(model string, before, now share) {
	_, there := u.Models[model]
	odd := strings.ContainsFunc(model, func(r rune) bool { return r <= ' ' || r > '~' })
	if !there && (len(u.Models) >= maxModels || model == "" || len(model) > maxName || odd) {
		model = otherModels
	}
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
	u.Usage = agent.Usage{}
	total := int64(0)
	for name, m := range u.Models {
		total += u.microUSD[name]
		u.Usage = u.Usage.Add(m)
	}
	u.Usage.CostUSD = float64(total) / 1e6
}
