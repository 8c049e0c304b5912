package claude

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/lazy"
)

// classes are Claude Code's own classes of the model's failures.
var classes = map[string]agent.FailureCode{
	"authentication_failed": agent.Unauthorized, "oauth_org_not_allowed": agent.Unauthorized, "account_on_hold": agent.Unauthorized,
	"verification_required": agent.Unauthorized, "cloud_credential_error": agent.Unauthorized, "billing_error": agent.UsageLimited,
	"rate_limit": agent.RateLimited, "overloaded": agent.ModelFailed, "server_error": agent.ModelFailed, "max_output_tokens": agent.ModelFailed,
	"invalid_request": agent.Refused, "model_not_found": agent.Refused,
	// Printed before it retries because of the connection, without a status.
	"unknown": agent.Unreachable,
}

// reasons are the reasons for a conversation's end that say more than the class.
var reasons = map[string]agent.FailureCode{
	"prompt_too_long": agent.Overflowed, "blocking_limit": agent.Overflowed, "budget_exhausted": agent.UsageLimited,
	"model_error": agent.ModelFailed, "malformed_tool_use_exhausted": agent.ModelFailed,
}

// kinds tell failed connections apart, which have the class server_error.
var kinds = map[string]agent.FailureCode{"connection_failed": agent.Unreachable, "usage_limit_reached": agent.UsageLimited}

// plans are parts of messages about a plan that is used up, which has the class of every other limit.
var plans = []string{"You've hit your", "You're out of usage credits", "account's rate limit", "usage limit reached", "spend limit reached", "Credit balance is too low"}

// failure returns the meaning of an error: its reason decides, then its class, then its HTTP status, then its message.
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
	// inStatus finds the status in an error's message. Versions before 2.1 report it nowhere else.
	inStatus = lazy.Pattern(`^API Error: ([45]\d\d)\b`)
	// usedUp is their message about a used up subscription, with its end in seconds since 1970.
	usedUp = lazy.Pattern(`^Claude AI usage limit reached\|(\d+)`)
	// logins and shares are their messages for errors without a status.
	logins = lazy.Pattern(`Please run /login|Invalid API key|does not have access to Claude Code`)
	shares = lazy.Pattern(`^(Spending cap|Limit|Weekly limit|Session limit|Opus (weekly )?limit|Usage limit) (reached|resets)`)
)

// inWords returns the meaning of an error that has neither a status nor a class, as in 2.0.1.
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

// containsAny reports whether text contains one of these parts.
func containsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}
