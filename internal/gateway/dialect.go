package gateway

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// dialect parses one vendor API.
type dialect interface {
	// read takes one document: an event of a stream, or a whole answer.
	read(document []byte, r *reading)
	// refusal returns the body of an error that the gateway itself answers with.
	refusal(status int, message string) any
}

// reading is what is known about one answer so far.
type reading struct {
	model string
	// reported is the usage as last reported; unreported is true until the first report.
	reported   tokens
	unreported bool
	// text counts the bytes of the answer since that report.
	text int64
	// whole: nothing of the answer is missing. closed: no agent waits for anything after it.
	whole, closed bool
	// problem is an error reported within the answer.
	problem *problem
}

// bytesPerToken is a fair guess for English and code.
const bytesPerToken = 4

// report records a usage that the vendor reports. It is cumulative in every API.
func (r *reading) report(t tokens) {
	r.reported, r.unreported, r.text = t.bounded(), false, 0
}

// says counts the bytes of text that the vendor has not counted yet.
func (r *reading) says(texts ...string) {
	for _, text := range texts {
		r.text += int64(len(text))
	}
}

// count returns the best known count, and how much of it is a guess.
func (r *reading) count() (t tokens, guessed int64) {
	guessed = believed((r.text + bytesPerToken - 1) / bytesPerToken)
	t = r.reported
	t.output += guessed
	return t, guessed
}

// estimateRest estimates the unreported part of a finished answer: its input, and, if the answer was cut off, everything it may have been billed for
// unseen.
func (r *reading) estimateRest(x *exchange) (guessed int64) {
	seen, _ := r.count()
	if r.unreported {
		guessed = believed(int64(x.asked / bytesPerToken))
		r.reported.input = guessed
	}
	cut := !r.whole && !r.closed && r.problem == nil
	if unseen := x.most.output - seen.output; cut && unseen > 0 && (x.wants.hidden || r.unreported && r.text == 0) {
		r.reported.output += unseen
		guessed += unseen
	}
	return guessed
}

// decode ignores fields of unexpected types: the agent gets the vendor's document unchanged in any case.
func decode(document []byte, into any) bool {
	return json.Unmarshal(document, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) == nil
}
