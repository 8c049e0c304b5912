package claude

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/lazy"
)

// classes are its own words for what went wrong with the model.
var classes = map[string]agent.FailureCode{
	"authentication_failed": agent.Unauthorized, "oauth_org_not_allowed": agent.Unauthorized, "account_on_hold": agent.Unauthorized,
	"verification_required": agent.Unauthorized, "cloud_credential_error": agent.Unauthorized, "billing_error": agent.UsageLimited,
	"rate_limit": agent.RateLimited, "overloaded": agent.ModelFailed, "server_error": agent.ModelFailed, "max_output_tokens": agent.ModelFailed,
	"invalid_request": agent.Refused, "model_not_found": agent.Refused,
	// Printed before it retries because of the connection, without a status.
	"unknown": agent.Unreachable,
}

// reasons are those of a conversation's end that say more than its class.
var reasons = map[string]agent.FailureCode{
	"prompt_too_long": agent.Overflowed, "blocking_limit": agent.Overflowed, "budget_exhausted": agent.UsageLimited,
	"model_error": agent.ModelFailed, "malformed_tool_use_exhausted": agent.ModelFailed,
}

// kinds are of connections, which have the class server_error.
var kinds = map[string]agent.FailureCode{"connection_failed": agent.Unreachable, "usage_limit_reached": agent.UsageLimited}

// plans are what it says where a share is used up, which has the class of every other limit.
var plans = []string{"You've hit your", "You're out of usage credits", "account's rate limit", "usage limit reached", "spend limit reached", "Credit balance is too low"}

// failure returns what its words for an error mean.
func failure(status int, class, reason, message string) *agent.Failure {
	code := cmp.Or(reasons[reason], classes[class])
	if code == "" && status == 0 {
		return inWords(message)
	}
	switch {
	case code == agent.RateLimited && containsAny(message, plans):
		code = agent.UsageLimited
	case code != "":
	case status == 401 || status == 403:
		code = agent.Unauthorized
	case status == 429:
		code = agent.RateLimited
	case status >= 500:
		code = agent.ModelFailed
	case status >= 400:
		code = agent.Refused
	default:
		code = agent.Crashed
	}
	return agent.Fail(code, "%s", message)
}

var (
	// inStatus finds what versions of before 2.1 tell of the status: it is in the words of an error, and nowhere else.
	inStatus = lazy.Pattern(`^API Error: ([45]\d\d)\b`)
	// usedUp is how they tell until when a subscription is used up, in seconds since 1970.
	usedUp = lazy.Pattern(`^Claude AI usage limit reached\|(\d+)`)
	// logins and shares are their words for errors that they tell no status of.
	logins = lazy.Pattern(`Please run /login|Invalid API key|does not have access to Claude Code`)
	shares = lazy.Pattern(`^(Spending cap|Limit|Weekly limit|Session limit|Opus (weekly )?limit|Usage limit) (reached|resets)`)
)

// inWords returns what an error means that has neither a status nor a class, as those of 2.0.1 have.
func inWords(message string) *agent.Failure {
	if ends := usedUp().FindStringSubmatch(message); ends != nil {
		f := agent.Fail(agent.UsageLimited, "Claude AI usage limit reached")
		if at, err := strconv.ParseInt(ends[1], 10, 64); err == nil && at > 0 {
			f.Until = time.Unix(at, 0).UTC()
		}
		return f
	}
	told := 0
	if found := inStatus().FindStringSubmatch(message); found != nil {
		told, _ = strconv.Atoi(found[1])
	}
	code := agent.ModelError(told, message)
	switch {
	case told != 0:
	case logins().MatchString(message):
		code = agent.Unauthorized
	case shares().MatchString(message), containsAny(message, plans):
		code = agent.UsageLimited
	}
	return agent.Fail(code, "%s", message)
}

func containsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}
