package login

import (
	"bytes"
	"encoding/json"
	"slices"

	"signalbox/internal/lazy"
)

// tokenNames are the keys for a token and for its end: Claude Code, Codex, opencode and pi, Gemini CLI.
var tokenNames = []string{
	"accessToken", "refreshToken", "expiresAt", "refreshTokenExpiresAt",
	"access_token", "refresh_token", "id_token", "last_refresh",
	"access", "refresh", "expires",
	"expiry_date",
}

// token matches a token, or the time of its end. Agents give some texts another meaning: pi runs "!command" as a command, and takes the address of
// its model from a token that contains ";".
var token = lazy.Pattern(`^[A-Za-z0-9][A-Za-z0-9._~+/=|:-]*$`)

// renewed returns the user's file with the tokens of the copy, where the user's file has tokens too. It adds and removes nothing and changes no
// type: an agent may take settings from a new entry (opencode fetches them from the address of a "wellknown" login).
func renewed(person, back []byte) (merged []byte, changed bool) {
	var mine, theirs any
	if decode(person, &mine) != nil || decode(back, &theirs) != nil || !merge(mine, theirs) {
		return nil, false
	}
	merged, err := json.MarshalIndent(mine, "", "  ")
	return merged, err == nil
}

// merge copies tokens into mine, and reports whether one changed.
func merge(mine, theirs any) (changed bool) {
	into, _ := mine.(map[string]any)
	from, _ := theirs.(map[string]any)
	for name, old := range into {
		renewed, there := from[name]
		switch {
		case !there:
		case slices.Contains(tokenNames, name) && isRenewed(old, renewed):
			into[name], changed = renewed, true
		default:
			changed = merge(old, renewed) || changed
		}
	}
	return changed
}

// isRenewed reports whether a token or a time changed, and both are of the same type and form.
func isRenewed(old, renewed any) bool {
	if n, ok := renewed.(json.Number); ok {
		was, ok := old.(json.Number)
		return ok && n != was
	}
	was, isText := old.(string)
	is, ok := renewed.(string)
	return ok && isText && is != was && token().MatchString(was) && token().MatchString(is)
}

// decode keeps the spelling of numbers.
func decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(v)
}
