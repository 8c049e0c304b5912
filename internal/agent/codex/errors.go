package codex

import (
	"strconv"
	"strings"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/lazy"
)

// reconnecting is Codex's message before it calls the model again. Patterns are compiled when they are needed: most starts of Signalbox run no agent.
var reconnecting = lazy.Pattern(`(?s)^Reconnecting\.\.\. (?:(\d+)/\d+|waiting for network)(?: \((.*)\))?$`)

// retry parses the message before a retry. again is false for any other message; attempt is 0 while Codex waits for a network.
func retry(message string) (attempt int, reason string, again bool) {
	found := reconnecting().FindStringSubmatch(message)
	if found == nil {
		return 0, "", false
	}
	attempt, _ = strconv.Atoi(found[1]) // empty while it waits for a network
	if found[2] == "" {
		return attempt, message, true
	}
	return attempt, found[2], true
}

// statusWords finds the HTTP status in an error's message.
var statusWords = lazy.Pattern(`(?:unexpected|last) status:? (\d{3})\b`)

// status returns the HTTP status in a message, zero if there is none.
func status(message string) int {
	found := statusWords().FindStringSubmatch(message)
	if found == nil {
		return 0
	}
	number, _ := strconv.Atoi(found[1])
	return number
}

// words are parts of Codex's own messages, with their meaning. Other messages are the server's.
var words = []struct {
	part string
	code agent.FailureCode
}{
	{"hit your usage limit", agent.UsageLimited},
	{"Quota exceeded", agent.UsageLimited},
	{"out of credits", agent.UsageLimited},
	{"spend cap", agent.UsageLimited},
	{"ran out of room in the model's context window", agent.Overflowed},
	{"at capacity", agent.ModelFailed},
	{"high demand", agent.ModelFailed},
	{"high load", agent.ModelFailed},
	{"limited access to this content", agent.Refused},
	{"not logged in", agent.Unauthorized},
	{"Missing environment variable", agent.Unauthorized},
	// Messages about a plan's login, which Codex renews as soon as it is refused.
	{"could not be refreshed", agent.Unauthorized},
	{"sign in again", agent.Unauthorized},
	{"auth.openai.com/oauth/token", agent.Unauthorized},
}

// failure returns what an error means. now is when it was reported.
func failure(message string, now time.Time) *agent.Failure {
	code := agent.ModelError(status(message), message)
	for _, w := range words {
		if strings.Contains(message, w.part) {
			code = w.code
			break
		}
	}
	f := agent.Fail(code, "%s", message)
	if code == agent.UsageLimited || code == agent.RateLimited {
		f.Until = until(message, now)
	}
	return f
}

var (
	againAt = lazy.Pattern(`try again at (?:([A-Z][a-z]{2} \d{1,2})(?:st|nd|rd|th), (\d{4}) )?(\d{1,2}:\d{2} [AP]M)`)
	againIn = lazy.Pattern(`try again in (\d{1,6}(?:\.\d+)?)(ms|s)\b`)
)

// until returns the end of a limit, zero if the message has none. Codex reports an hour within the next 24, a day with its hour (both in the zone that
// it was given), or a number of seconds.
func until(message string, now time.Time) time.Time {
	if in := againIn().FindStringSubmatch(message); in != nil {
		wait, err := time.ParseDuration(in[1] + in[2])
		if err != nil {
			return time.Time{}
		}
		return now.Add(wait)
	}
	at := againAt().FindStringSubmatch(message)
	if at == nil {
		return time.Time{}
	}
	if at[1] != "" {
		day, err := time.Parse("Jan 2 2006 3:04 PM", at[1]+" "+at[2]+" "+at[3])
		if err != nil {
			return time.Time{}
		}
		return day
	}
	hour, err := time.Parse("3:04 PM", at[3])
	if err != nil {
		return time.Time{}
	}
	day := time.Date(now.Year(), now.Month(), now.Day(), hour.Hour(), hour.Minute(), 0, 0, time.UTC)
	if !day.After(now.Add(-time.Minute)) { // the message has no seconds
		day = day.AddDate(0, 0, 1)
	}
	return day
}
