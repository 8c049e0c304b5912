package pi

import (
	"strconv"
	"time"

	"signalbox/internal/lazy"
)

var (
	// A status comes before a body: `429 {"error":…}`.
	statusPattern = lazy.Pattern(`^([45][0-9]{2})\b`)
	// The first message of a body is the server's sentence for people.
	wordsPattern = lazy.Pattern(`"message": ?"((?:[^"\\]|\\.)*)"`)
	// The words of OpenAI's and Google's limits.
	againPattern = lazy.Pattern(`(?i)(?:try again|retry) in ([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)\b`)
)

// status returns the HTTP status with which a problem begins, zero if there is none.
func status(problem string) int {
	found := statusPattern().FindStringSubmatch(problem)
	if found == nil {
		return 0
	}
	code, _ := strconv.Atoi(found[1]) // three digits
	return code
}

// words returns the part of a problem that is for people.
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

// lost are pi's messages about a conversation that it doesn't have, or that belongs to another folder.
var lost = []string{"No session found matching", "Session found in different project", "Stored session working directory does not exist"}
