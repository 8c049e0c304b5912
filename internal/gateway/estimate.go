package gateway

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// usualOutput is reserved where a request does not say how long its answer may be: what agents
	// ask for that do.
	usualOutput = 32_000
	// leastReserved is for everything that a small request makes a vendor add, such as its words on tools.
	leastReserved = 4096
	// Tokens of text are seldom shorter than 3 bytes, or longer than 6.
	shortToken, longToken = 3, 6
	// pictureBytes is a token of a picture or a document, at the least; it is text of no other kind that
	// is encoded and so long.
	pictureBytes, longString = 16, 8 << 10
)

// wants is what a request says of its answer.
type wants struct {
	// output is how many tokens it may have; hidden: some of them are billed and never seen.
	output int64
	hidden bool
}

// wanted reads what a request says of its answer, in the words of every API.
func wanted(request map[string]jsontext.Value) wants {
	var nested map[string]jsontext.Value
	_ = json.Unmarshal(request["generationConfig"], &nested) // Gemini's; without it there is nothing to read
	figure := func(from map[string]jsontext.Value, name string) (n int64) {
		_ = json.Unmarshal(from[name], &n) // of another type it is the vendor's to refuse
		return believed(n)
	}
	w := wants{output: max(figure(request, "max_tokens"), figure(request, "max_completion_tokens"),
		figure(request, "max_output_tokens"), figure(nested, "maxOutputTokens"))}
	if w.output == 0 {
		w.output = usualOutput
	}
	w.output = believed(w.output * max(1, min(maxChoices, max(figure(request, "n"), figure(nested, "candidateCount")))))
	for _, name := range []string{"thinking", "reasoning", "reasoning_effort", "max_completion_tokens"} {
		value := bytes.TrimSpace(request[name])
		w.hidden = w.hidden || len(value) > 0 && string(value) != "null" && !bytes.Contains(value, []byte(`"disabled"`))
	}
	w.hidden = w.hidden || !isTrue(request["stream"]) // such an answer is complete before any of it is seen
	return w
}

// maxChoices is how many answers at once are believed to be asked for.
const maxChoices = 128

// sizes are the bytes of a request's text and of what it encodes, such as pictures.
func sizes(body []byte) (text, encoded int64) {
	for rest := body; ; {
		open := bytes.IndexByte(rest, '"')
		if open < 0 {
			return int64(len(body)) - encoded, encoded
		}
		rest = rest[open+1:]
		end := closing(rest)
		if s := rest[:end]; len(s) > longString && isEncoded(s[:longString]) {
			encoded += int64(len(s))
		}
		rest = rest[min(end+1, len(rest)):]
	}
}

// closing is where a JSON string ends.
func closing(s []byte) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(s)
}

// isEncoded: base64 has no spaces, and no other mark than these.
func isEncoded(s []byte) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !bytes.ContainsRune([]byte("+/=-_"), rune(c)) {
			return false
		}
	}
	return true
}

// least and most are what a request may use before anything of its answer is known.
func (w wants) least(body []byte) tokens {
	text, _ := sizes(body)
	input := text / longToken
	return tokens{input: input, read: input}.bounded()
}

func (w wants) most(body []byte) tokens {
	text, encoded := sizes(body)
	input := max(text/shortToken+encoded/pictureBytes, leastReserved)
	return tokens{input: input, written: input, output: w.output}.bounded()
}

// ask is what the request asks of budgets.
func (x *exchange) ask(body []byte) Ask {
	p, _ := price(x.session.config.Prices, x.model)
	of := func(t tokens) Spending { return Spending{Tokens: t.input + t.output, CostMicroUSD: p.cost(t)} }
	x.most = x.wants.most(body)
	return Ask{Least: of(x.wants.least(body)), Most: of(x.most)}
}
