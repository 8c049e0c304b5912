package gateway

import (
	"bytes"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// problem is a vendor's error, as a response of its own or within a stream.
type problem struct {
	// status is the HTTP status, or in a stream the one that the error's words stand for; zero if unknown.
	status int
	// words are the error's type and code, each surrounded by spaces; message is for people.
	words, message string
	// resetsAt and resetsIn say when a limit ends, if the body does.
	resetsAt time.Time
	resetsIn time.Duration
}

// is reports whether the error's type or code is any of these.
func (p *problem) is(words ...string) bool {
	for _, w := range words {
		if strings.Contains(p.words, " "+w+" ") {
			return true
		}
	}
	return false
}

// says reports whether the message contains any of these lowercase phrases.
func (p *problem) says(phrases ...string) bool {
	message := strings.ToLower(p.message)
	for _, phrase := range phrases {
		if strings.Contains(message, phrase) {
			return true
		}
	}
	return false
}

// apiError has the fields of every vendor's errors; each fills in its own.
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

// problemIn reads an error's object; nil if there is none.
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

// perDay marks a daily limit, which Google's quota names reveal.
const perDay = "signalbox.per-day"

// meant returns the status that an error's own words stand for.
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

// problemOf reads the body of an error. It may not be JSON, if something other than the vendor answered.
func problemOf(status int, body []byte) *problem {
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
		p.status = status // Gemini reports a wrong key as a bad request
	}
	return p
}

// longest is beyond every vendor's limits; a later end is not believed.
const longest = 35 * 24 * time.Hour

// seconds returns a wait, zero if it is none or longer than is believed.
func seconds(s float64) time.Duration {
	if math.IsNaN(s) || s <= 0 || s > longest.Seconds() {
		return 0
	}
	return time.Duration(s * float64(time.Second))
}

// unix returns a time in seconds since 1970, zero if there is none.
func unix(s float64) time.Time {
	if math.IsNaN(s) || s <= 0 || s > 1e11 {
		return time.Time{}
	}
	return time.Unix(int64(s), 0)
}
