package environment

import (
	"regexp"

	"signalbox/internal/process"
)

// The classes of a failed set-up command (SPEC P6). What to do about each is
// workflow's to say; what a tool's words mean is said here.
const (
	Network = "network" // the other side was not reached
	Server  = "server"  // it was, and has a passing trouble of its own
	Lock    = "lock"    // another package manager is at work
	Fixable = "fixable" // another command could succeed
	Fatal   = "fatal"   // no command could
)

// messages are what tools print, first match wins. The order matters: a full
// disk also ends downloads, and a 503 also ends in "could not fetch".
var messages = []struct {
	class   string
	pattern func() *regexp.Regexp
}{
	{Fatal, lazyPattern(`(?i)no space left on device|disk quota exceeded|cannot allocate memory|out of memory|\benomem\b|\benospc\b`)},
	{Lock, lazyPattern(`(?i)could not get lock|unable to acquire the dpkg frontend lock|is another process using it|waiting for .* lock|lock file .* (held|exists)|\beexist\b.*lock|timeout waiting to lock`)},
	{Server, lazyPattern(`(?i)\b50[234]\b[^\n]*(service unavailable|bad gateway|gateway time-?out|server error)|(service unavailable|bad gateway|gateway time-?out)|http error 50[234]|status code:? 50[234]|\b429\b[^\n]*too many requests`)},
	{Network, lazyPattern(`(?i)temporary failure in name resolution|could not resolve host|no such host|name or service not known|getaddrinfo|connection (timed out|refused|reset)|network is unreachable|i/o timeout|read timed out|\b(econnreset|econnrefused|etimedout|enotfound|eai_again)\b|tls handshake timeout|unexpected eof`)},
}

// Classify says which class a failed command's end is of, by how it ended and
// by the last of what it printed.
func Classify(r process.Result, output string) string {
	if r.Ending == process.NoMemory || r.ExitCode == 137 {
		return Fatal
	}
	for _, m := range messages {
		if m.pattern().MatchString(output) {
			return m.class
		}
	}
	return Fixable
}
