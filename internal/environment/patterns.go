package environment

import (
	"strconv"

	"signalbox/internal/lazy"
)

var (
	// escape matches a terminal's control sequence.
	escape = lazy.Pattern(`\x1b\[[0-9;?]*[ -/]*[@-~]`)
	// frame matches the words with which tools, and the setup's shell, begin every line of an error.
	frame = lazy.Pattern(`^(?:npm (?:error|ERR!) ?(?:(?:network|notarget|nospc|engine|notsup|JSON\.parse) )?|\[(?:ERROR|FATAL)\] ?|E: |signalbox: (?:eval: )?(?:line )?\d+: (?:eval: )?)+`)
	// surround matches what they put around a line's words. It stays for the classification, and is cut
	// from the reason.
	surround = lazy.Pattern(`^WARNING: Retrying \(Retry\([^)]*\)\) after | -> \[Help \d+\]`)

	// passing matches a line of a tool that continues: a warning, an attempt before another one, a wait.
	passing = lazy.Pattern(`(?i)^(?:\[?warn(?:ing)?\b|npm warn\b|w: |ign:|info\b|waiting for )|\bretry(?:ing\b|\()|will retry|retries left|try(?:ing)? again\b|blocking waiting for`)
	// exhausted matches pip's last attempt, the only line that names the cause.
	exhausted = lazy.Pattern(`Retry\(total=0,`)
	// bare matches a line with a code and no words, which helps no reader.
	bare = lazy.Pattern(`^(?:code|errno|syscall)\b|^Error: ERR_PNPM_\w+$|^FAIL\b`)

	// complaint matches a line that reads like an error. It decides no class, only which line to show.
	complaint = lazy.Pattern(`(?i)\w*(?:error|exception)\b|\b(?:fatal|fail(?:ed|s|ure)?|cannot|can't|not found|no such|denied|invalid|unknown|unsupported|undefined|unmet|missing|need(?:s|ed)|must)\b`)
	// advice matches lines that tools print below any error. They are never the reason.
	advice = lazy.Pattern(`(?i)complete log of this run|re-?run (?:maven|with)|full stack trace|see above|for more information|more log output|get more help|^(?:note|hint|info|help|npm notice)\b|visit https?:|please read|\[help \d+\]|^build fail|failed with an exception|execution failed for task|^(?:\[|--?\w+[ ,] |command |path |run \W?npm )|encountered error while|metadata-generation-failed|subprocess-exited|did not run successfully|likely not a problem with|^Terminated$`)
)

// status finds an HTTP status in a tool's words: "status code 503", "503 Service Unavailable".
var status = lazy.Pattern(`(?i)(?:\b(?:error|status|status code|response|http|http code|http error|returned a|code):? |\bcode e|fetch_|too many |[a-z] - )([45]\d\d)\b` +
	`|\b([45]\d\d) +(?:service (?:temporarily )?unavailable|bad gateway|gateway time-?out|internal server error|too many requests|request timeout|not found|gone|forbidden|unauthorized|proxy authentication|bad request|client error|server error)`)

// statusClass returns the class of the HTTP status in the text; empty if there is none.
//
// 401 and 407 are fatal: an environment has no credentials, and a corrected command could only ask another
// source for a package of that name, which may be an attacker's. 403 and the other 4xx are fixable: many
// registries answer them for unknown names and versions.
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
