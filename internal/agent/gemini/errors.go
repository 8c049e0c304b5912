package gemini

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/lazy"
	"signalbox/internal/process"
)

// Exit codes: Gemini CLI's own, or otherwise an HTTP status, of which the system keeps eight bits.
const (
	exitUnauthorized = 41
	exitInput        = 42
	keptBits         = 256
)

// status returns the HTTP status in an error's words, or the one of which the exit code is the rest; zero if there is none.
func status(end process.Result, said string) int {
	if found := codePattern().FindStringSubmatch(said); found != nil {
		code, _ := strconv.Atoi(found[1]) // three digits
		return code
	}
	for _, status := range []int{400, 401, 403, 404, 408, 429, 500, 502, 503, 504} {
		if end.Ending == process.Exited && end.ExitCode == status%keptBits {
			return status
		}
	}
	return 0
}

var (
	codePattern  = lazy.Pattern(`"code": ?([45][0-9]{2})\b`)
	againPattern = lazy.Pattern(`(?i)(?:retry after|retry in|reset after) ((?:[0-9]+(?:\.[0-9]+)?(?:ms|h|m|s))+)`)
)

// words returns the part of a problem that is for people, without JSON around it and without advice about another login.
func words(said string) string {
	said, _, _ = strings.Cut(said, "\nPlease wait and try again later.")
	said = strings.TrimSuffix(strings.TrimPrefix(said, "[API Error: "), "]")
	var body struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if at := strings.IndexByte(said, '{'); at >= 0 && json.Unmarshal([]byte(said[at:]), &body) == nil && body.Error.Message != "" {
		return body.Error.Message
	}
	return said
}

// until returns the end of a limit, zero if the words don't say it.
func until(said string, now time.Time) time.Time {
	found := againPattern().FindStringSubmatch(said)
	if found == nil {
		return time.Time{}
	}
	wait, err := time.ParseDuration(found[1])
	if err != nil {
		return time.Time{}
	}
	return now.Add(wait).UTC()
}

// attemptPattern matches the line on standard error before a retry.
var attemptPattern = lazy.Pattern(`(?m)^Attempt [0-9]+ failed(?: with status ([0-9]{3}))?[.:](.*)$`)

// silent returns the failure of a program that printed no final event, from its standard error.
func silent(end process.Result, stderr string) *agent.Failure {
	if end.ExitCode == exitInput && strings.Contains(stderr, "Error resuming session") {
		return agent.Fail(agent.Lost, "Gemini CLI no longer knows the conversation")
	}
	found := attemptPattern().FindAllStringSubmatch(stderr, -1)
	if found == nil || end.Ending == process.Exited {
		return nil
	}
	last := found[len(found)-1]
	code, _ := strconv.Atoi(last[1]) // zero if there is none
	return agent.Fail(agent.ModelError(code, last[2]), "Gemini CLI was about to retry:%s", last[2])
}
