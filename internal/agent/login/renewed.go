package login

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"sync"
)

// tokenNames are what agents call a token and its end: Claude Code, Codex, opencode and pi, Gemini CLI.
var tokenNames = []string{
	"accessToken", "refreshToken", "expiresAt", "refreshTokenExpiresAt",
	"access_token", "refresh_token", "id_token", "last_refresh",
	"access", "refresh", "expires",
	"expiry_date",
}

// token is what a token, or the time of its end, can be. Agents take some words for more: to pi
// "!command" is a command, and of one with ";" it takes the address of its model.
var token = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._~+/=|:-]*$`) })

// renewed returns the person's file with the tokens of the copy in the places where it has tokens itself.
// Nothing is added, taken away or made another kind: a new entry may be one from which an agent takes
// settings (opencode fetches them from the address of a "wellknown" login).
func renewed(person, back []byte) (merged []byte, changed bool) {
	var mine, theirs any
	if decode(person, &mine) != nil || decode(back, &theirs) != nil || !merge(mine, theirs) {
		return nil, false
	}
	merged, err := json.MarshalIndent(mine, "", "  ")
	return merged, err == nil
}

// merge takes tokens over into mine, and reports whether one is another now.
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

func isRenewed(old, renewed any) bool {
	if n, ok := renewed.(json.Number); ok {
		was, ok := old.(json.Number)
		return ok && n != was
	}
	was, isText := old.(string)
	is, ok := renewed.(string)
	return ok && isText && is != was && token().MatchString(was) && token().MatchString(is)
}

// decode keeps numbers as they are written.
func decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(v)
}
