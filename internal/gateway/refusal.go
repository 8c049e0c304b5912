package gateway

import (
	"io"
	"net/http"

	"github.com/go-json-experiment/json"
)

// statusOver is the one with which every agent ends at once, in all of the recordings: a request
// that is wrong stays wrong. 401 and 403 are tried again for minutes by some.
const statusOver = http.StatusBadRequest

// messageOver is what an agent is told when its session was cut. It is always the same: some agents
// decide by an error's words and numbers whether to try again or to shorten the conversation. The
// reason is in Session.Failure.
const messageOver = "Signalbox has ended this session. Stop here."

// refuse answers in the words of the agent's vendor.
func refuse(w http.ResponseWriter, d dialect, status int, message string) {
	if d == nil {
		turnAway(w, status)
		return
	}
	body, err := json.Marshal(d.refusal(status, message), json.Deterministic(true))
	if err != nil {
		turnAway(w, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func refuseOver(w http.ResponseWriter, d dialect) {
	refuse(w, d, statusOver, messageOver)
}

// drain reads what is left of a request. A client that is still sending when the connection closes
// sees an error of the network, and tries again.
func drain(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxRequest))
}
