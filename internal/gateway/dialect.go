package gateway

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// dialect is one API's words.
type dialect interface {
	// read takes what one document tells: an event of a stream, or a whole answer.
	read(document []byte, r *reading)
	// refusal is the body of an error that the gateway itself answers.
	refusal(status int, message string) any
}

// reading is what is known of one answer so far.
type reading struct {
	model string
	// told is the usage as the vendor told it last; untold is true until it did.
	told   tokens
	untold bool
	// text counts the bytes of the answer since then.
	text int64
	// whole: nothing of the answer is missing. Closed: no agent waits for anything after it.
	whole, closed bool
	// problem is an error that was told within the answer.
	problem *problem
}

// bytesPerToken is a fair guess for English and code.
const bytesPerToken = 4

// tell takes a usage that the vendor tells. It is cumulative in every API.
func (r *reading) tell(t tokens) {
	r.told, r.untold, r.text = t.bounded(), false, 0
}

func (r *reading) says(texts ...string) {
	for _, text := range texts {
		r.text += int64(len(text))
	}
}

// count is the best that is known, and how much of it is a guess.
func (r *reading) count() (t tokens, guessed int64) {
	guessed = believed((r.text + bytesPerToken - 1) / bytesPerToken)
	t = r.told
	t.output += guessed
	return t, guessed
}

// suppose guesses what was not told of an answer when it is over: its input, and of one that was cut off
// what is billed and was not seen, which is all that it may have had.
func (r *reading) suppose(x *exchange) (guessed int64) {
	seen, _ := r.count()
	if r.untold {
		guessed = believed(int64(x.asked / bytesPerToken))
		r.told.input = guessed
	}
	cut := !r.whole && !r.closed && r.problem == nil
	if unseen := x.most.output - seen.output; cut && unseen > 0 && (x.wants.hidden || r.untold && r.text == 0) {
		r.told.output += unseen
		guessed += unseen
	}
	return guessed
}

// decode is lenient: what the vendor sends was meant for others, and reaches them as it is.
func decode(document []byte, into any) bool {
	return json.Unmarshal(document, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) == nil
}
