package pi

import (
	"strconv"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/lazy"
)

// failure returns why a message is not whole, nil of one that is.
func (m message) failure() *agent.Failure {
	switch m.Reason {
	case "error":
		f := agent.Fail(agent.ModelError(status(m.Problem), m.Problem), "%s", words(m.Problem))
		if f.Code == agent.RateLimited || f.Code == agent.UsageLimited {
			f.Until = until(m.Problem, time.UnixMilli(m.Finished).UTC())
		}
		return f
	case "aborted":
		return agent.Fail(agent.Crashed, "pi broke its work off: %s", m.Problem)
	case "length":
		return agent.Fail(agent.Crashed, "the model's answer was cut off: it is longer than the model may answer")
	}
	return nil
}

var (
	// A status comes before a body: `429 {"error":…}`.
	statusPattern = lazy.Pattern(`^([45][0-9]{2})\b`)
	// The first message of a body is the server's sentence for people.
	wordsPattern = lazy.Pattern(`"message": ?"((?:[^"\\]|\\.)*)"`)
	// OpenAI's and Google's.
	againPattern = lazy.Pattern(`(?i)(?:try again|retry) in ([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)\b`)
)

func status(problem string) int {
	found := statusPattern().FindStringSubmatch(problem)
	if found == nil {
		return 0
	}
	code, _ := strconv.Atoi(found[1]) // three digits
	return code
}

// words returns those of a problem that are for people.
func words(problem string) string {
	found := wordsPattern().FindStringSubmatch(problem)
	if found == nil {
		return problem
	}
	said, err := strconv.Unquote(`"` + found[1] + `"`)
	if err != nil {
		return problem
	}
	if code := status(problem); code != 0 {
		said = strconv.Itoa(code) + " " + said
	}
	return said
}

// until returns when a limit ends, zero if the problem does not say.
func until(problem string, now time.Time) time.Time {
	found := againPattern().FindStringSubmatch(problem)
	if found == nil {
		return time.Time{}
	}
	wait, err := time.ParseDuration(found[1] + found[2])
	if err != nil {
		return time.Time{}
	}
	return now.Add(wait)
}

// lost are its words for a conversation that it does not have, or not of this folder.
var lost = []string{"No session found matching", "Session found in different project", "Stored session working directory does not exist"}
