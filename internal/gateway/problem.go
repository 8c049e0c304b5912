package gateway

import (
	"bytes"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// problem is an error as a vendor tells it, as a response of its own or within a stream.
type problem struct {
	// status is the HTTP status, or in a stream what its words stand for; zero if nobody knows.
	status int
	// words are the error's own names for itself, with spaces around each; message is for people.
	words, message string
	// resetsAt and resetsIn are when a limit ends, as far as the body tells.
	resetsAt time.Time
	resetsIn time.Duration
}

// is reports whether the error calls itself any of these.
func (p *problem) is(words ...string) bool {
	for _, w := range words {
		if strings.Contains(p.words, " "+w+" ") {
			return true
		}
	}
	return false
}

// says reports whether the message has any of these phrases, in lower case.
func (p *problem) says(phrases ...string) bool {
	message := strings.ToLower(p.message)
	for _, phrase := range phrases {
		if strings.Contains(message, phrase) {
			return true
		}
	}
	return false
}

// apiError is what the errors of all vendors have; each fills in its own part.
type apiError struct {
	Type     string         `json:"type"`
	Code     jsontext.Value `json:"code"`
	Status   string         `json:"status"`
	Message  string         `json:"message"`
	ResetsAt float64        `json:"resets_at"`
	ResetsIn float64        `json:"resets_in_seconds"`
	Details  []struct {
		Reason     string `json:"reason"`
		RetryDelay string `json:"retryDelay"`
		Violations []struct {
			QuotaID string `json:"quotaId"`
		} `json:"violations"`
	} `json:"details"`
}

// problemIn reads the object of an error; nil if there is none.
func problemIn(value jsontext.Value) *problem {
	var e apiError
	if len(value) == 0 || value.Kind() != '{' {
		return nil
	}
	if !decode(value, &e) {
		return &problem{message: "an error that cannot be read"}
	}
	code := string(bytes.Trim(e.Code, `"`))
	p := &problem{message: e.Message, words: " " + e.Type + " " + code + " " + e.Status + " ",
		resetsAt: unix(e.ResetsAt), resetsIn: seconds(e.ResetsIn)}
	for _, d := range e.Details {
		p.words += d.Reason + " "
		for _, v := range d.Violations {
			if strings.Contains(v.QuotaID, "PerDay") {
				p.words += perDay + " "
			}
		}
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil {
			p.resetsIn = max(p.resetsIn, wait)
		}
	}
	p.status = p.meant()
	return p
}

// perDay is our word for a limit that Google's names of quotas tell.
const perDay = "signalbox.per-day"

// meant is the status that an error's own words stand for.
func (p *problem) meant() int {
	switch {
	case p.is("authentication_error", "invalid_api_key", "UNAUTHENTICATED", "API_KEY_INVALID", "401"):
		return http.StatusUnauthorized
	case p.is("permission_error", "PERMISSION_DENIED", "403"):
		return http.StatusForbidden
	case p.is("billing_error", "402"):
		return http.StatusPaymentRequired
	case p.is("rate_limit_error", "rate_limit_exceeded", "insufficient_quota", "usage_limit_reached", "RESOURCE_EXHAUSTED", "429"):
		return http.StatusTooManyRequests
	case p.is("overloaded_error", "server_is_overloaded", "UNAVAILABLE", "503"):
		return http.StatusServiceUnavailable
	case p.is("api_error", "server_error", "timeout_error", "INTERNAL", "DEADLINE_EXCEEDED", "500"):
		return http.StatusInternalServerError
	case p.is("request_too_large"):
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusBadRequest
}

// told reads the body of an error. It may be no JSON at all, where something else answered.
func told(status int, body []byte) *problem {
	var document struct {
		Error jsontext.Value `json:"error"`
	}
	body = bytes.TrimSpace(body)
	if list := []jsontext.Value(nil); bytes.HasPrefix(body, []byte("[")) && decode(body, &list) && len(list) > 0 {
		body = list[0] // Gemini's way to stream without events
	}
	var p *problem
	if decode(body, &document) {
		p = problemIn(document.Error)
	}
	if p == nil {
		p = &problem{message: http.StatusText(status)}
	}
	if meant := p.status; meant != http.StatusUnauthorized || status >= http.StatusInternalServerError {
		p.status = status // Gemini calls a wrong key a bad request
	}
	return p
}

// longest is beyond every limit that a vendor has; what is said to end later is not believed.
const longest = 35 * 24 * time.Hour

func seconds(s float64) time.Duration {
	if math.IsNaN(s) || s <= 0 || s > longest.Seconds() {
		return 0
	}
	return time.Duration(s * float64(time.Second))
}

func unix(s float64) time.Time {
	if math.IsNaN(s) || s <= 0 || s > 1e11 {
		return time.Time{}
	}
	return time.Unix(int64(s), 0)
}
