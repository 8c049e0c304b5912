package opencode

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/lazy"
	"signalbox/internal/process"
)

// problem is an error in opencode's events.
type problem struct {
	Name string `json:"name"`
	Data struct {
		Message string            `json:"message"`
		Status  int               `json:"statusCode"`
		Headers map[string]string `json:"responseHeaders"`
		Body    string            `json:"responseBody"`
	} `json:"data"`
}

// class returns the meaning of an error. opencode's own name for it counts first.
func class(p problem) agent.FailureCode {
	switch p.Name {
	case "ContextOverflowError":
		return agent.Overflowed
	case "ProviderAuthError":
		return agent.Unauthorized
	}
	if strings.HasPrefix(p.Data.Message, "Cannot connect to API") {
		return agent.Unreachable
	}
	return agent.ModelError(p.Data.Status, p.Data.Message+"\n"+p.Data.Body)
}

// until parses a Retry-After header: seconds, or a date (RFC 9110, section 10.2.3).
func until(header string, now time.Time) time.Time {
	if seconds, err := strconv.ParseFloat(header, 64); err == nil && seconds >= 0 && seconds < maxWait.Seconds() {
		return now.Add(time.Duration(seconds * float64(time.Second)))
	}
	date, err := http.ParseTime(header)
	if err != nil {
		return time.Time{}
	}
	return date
}

// maxWait is longer than the period of any limit.
const maxWait = 366 * 24 * time.Hour

// logPattern matches an error in its log that it reports in no event: it waits to retry, for hours if a limit says so. Errors of the model for
// titles don't matter.
var logPattern = lazy.Pattern(`(?m)^timestamp=(\S+) level=ERROR .*message="stream error" .*small=false .*error\.error="((?:[^"\\]|\\.)*)"`)

// silent returns the failure of a program that reported none in its events since then. A limit that kept it silent until the idle deadline does not
// pass within a minute.
func silent(end process.Result, stderr string, since time.Time) *agent.Failure {
	if strings.Contains(stderr, "Session not found") {
		return agent.Fail(agent.Lost, "opencode no longer knows the conversation")
	}
	found := logPattern().FindAllStringSubmatch(stderr, -1)
	if found == nil {
		return nil
	}
	last := found[len(found)-1]
	if at, err := time.Parse(time.RFC3339, last[1]); err != nil || at.Before(since) {
		return nil
	}
	code := agent.ModelError(0, last[2])
	if code == agent.RateLimited && end.Ending == process.Idled {
		code = agent.UsageLimited
	}
	return agent.Fail(code, "opencode was about to retry: %s", last[2])
}
