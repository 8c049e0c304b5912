package gateway

import (
	"io"
	"net/http"

	"github.com/go-json-experiment/json"
)

// statusOver is the status that ends every agent at once, in all of the recordings: a malformed request stays malformed. Some agents retry 401 and
// 403 for minutes.
const statusOver = http.StatusBadRequest

// messageOver is the message an agent gets when its session was cut. It never varies, because some agents decide by words and numbers in an error
// whether to retry or to shorten the conversation. The real reason is in Session.Failure.
const messageOver = "Signalbox has ended this session. Stop here."

// refuse answers in the format of the agent's vendor.
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

// drain reads the rest of a request. A client that is still sending when the connection closes sees a network error, and retries.
func drain(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxRequest))
}
