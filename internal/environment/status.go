package environment

import (
	"signalbox/internal/lazy"
	"strconv"
)

// status finds an HTTP status in a tool's words: "status code 503", "503 Service Unavailable".
var status = lazy.Pattern(`(?i)(?:\b(?:error|status|status code|response|http|http code|http error|returned a|code):? |\bcode e|fetch_|too many |[a-z] - )([45]\d\d)\b` +
	`|\b([45]\d\d) +(?:service (?:temporarily )?unavailable|bad gateway|gateway time-?out|internal server error|too many requests|request timeout|not found|gone|forbidden|unauthorized|proxy authentication|bad request|client error|server error)`)

// statusClass returns the class of the HTTP status in the text; empty if there is none.
//
// 401 and 407 are fatal: an environment has no credentials, and a corrected command could only ask another source for a package of that name, which
// may be an attacker's. 403 and the other 4xx are fixable: many registries answer them for unknown names and versions.
func statusClass(text string) string {
	found := status().FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	code, _ := strconv.Atoi(found[1] + found[2])
	switch {
	case code >= 500, code == 408, code == 425, code == 429:
		return Server
	case code == 401, code == 407:
		return Fatal
	}
	return Fixable
}
