package environment

import (
	"regexp"
	"sync"

	"signalbox/internal/lazy"
)

// message is one phrase that tools print, and its meaning.
type message struct {
	verdict
	pattern func() *regexp.Regexp
}

// says returns a message that names a cause.
func says(class, expression string) message {
	return message{verdict{class: class}, lazy.Pattern(expression)}
}

// follows returns a message that tools print after any failure, with a note that says so.
func follows(class, expression, note string) message {
	return message{verdict{class, consequence, note}, lazy.Pattern(expression)}
}

// messages say more than a number in the same line, so they are tried first. Within a line the first match
// wins, and the order matters: a full disk also aborts a download, and a lock file that may not be opened
// is held by no one.
//
// A failed protection is fatal: a refused checksum, signature or certificate. Only a command that stops
// checking gets past it, and a model that is asked for a corrected command would propose just that. A
// person must look. A certificate from an unknown authority is fixable: fresh images lack the package with
// the usual authorities' certificates, and installing it helps.
//
// testdata/failures has the real outputs that these phrases come from.
var messages = sync.OnceValue(func() []message {
	return []message{
		says(Fatal, `(?i)space left on device|\benospc\b|disk quota exceeded|\bedquot\b|enough free space in`),
		says(Fatal, `(?i)out of memory|outofmemoryerror|java heap space|gc overhead limit|\bmemoryerror\b|cannot allocate memory|\benomem\b|failed to (?:reserve|allocate) .*(?:memory|stack)`),
		says(Fatal, `signal: killed|Killed signal|\d+ Killed\s|\] Killed$|^Killed$`),
		says(Fatal, `(?i)can't start new thread|unable to create (?:new )?native thread|(?:fork|clone)\b.*resource temporarily unavailable|too many open files`),

		says(Fixable, `(?i)local issuer certificate|signed by unknown authority|valid certification path|unknownissuer|cafile: none|error setting certificate`),
		says(Fatal, `(?i)certificate.verif|self[-_ ]signed[-_ ]cert|ssl certificate problem|\bx509: |invalid peer certificate|confirming the ssl certificate`),
		says(Fatal, `(?i)checksum mismatch|integrity check(?:sum)? failed|do not match the hashes|unexpected checksum|between the expected content and downloaded|signatures couldn't be verified|is not signed\.|failed to verify the integrity`),

		says(Fixable, `open lock file .*permission denied|are you root\?`),
		says(Lock, `(?i)could not get lock|is another process using it|locked by another process|unable to lock database|lock': file exists|another git process|timeout waiting to lock|in use by another gradle|\block ?error\b|conda is already doing|could not acquire lock|waiting for .*\block\b|other yarn instance`),

		says(Fixable, `from versions: \d|Cannot install .* conflicting dependencies|Invalid requirement|externally-managed-environment`),
		says(Fixable, `ERESOLVE (?:unable|could)|No matching version found|Invalid package\.json|Missing script|Unsupported engine|Unsupported platform|can only install|Unmet peer dep|Couldn't find (?:any versions|package)|lockfile needs to be updated|is incompatible with this module|requires a pnpm-lock|Cannot install with|No package\.json found`),
		says(Fixable, `unknown revision|go\.mod:\d+|missing go\.sum entry|does not contain package|module declares its path|requires go >=|no modules specified|could not read Username`),
		says(Fixable, `Could not find artifact|failure was cached|in offline mode|for offline mode|Non-readable POM|Non-parseable|'\w+' is missing|no POM in this|Unknown lifecycle phase`),
		says(Fixable, `Could not (?:find \S+:\S+:\S+|find method|compile build file)|was not found in any of the following|Task '.*' not found|conflict was found between`),
		says(Fixable, `PackagesNotFoundError|ResolvePackageNotFound|UnsatisfiableError|Encountered problems while solving|not been properly configured to use`),
		says(Fixable, `(?i)wrong version number|does not look like a tls handshake|unrecognized ssl message`),
		says(Server, `(?i)rate limit exceeded`),
		// pip and an index: the number at the end of the line isn't the server's.
		says(Network, `HTTP 000 CONNECTION|Cannot connect to proxy`),
		says(Fatal, `^User for \S+: |Incorrect or missing password`),
	}
})

// unreached is tried if neither messages nor a server's status decided.
var unreached = sync.OnceValue(func() []message {
	return []message{
		says(Network, `(?i)could ?n[o']t resolve (?:host|proxy|')|unable to resolve host|unknown host|name or service not known|temporary failure in name resolution|no such host|no address associated|failed to lookup address|dns error`),
		says(Network, `(?i)connection (?:timed out|refused|reset|aborted|closed|failed|was reset)|failed to connect|could ?n[o']t connect|network is (?:unreachable|down)|no route to host|trouble with your network`),
		says(Network, `(?i)(?:operation|read|connect(?:ion)?|socket|request) (?:timed out|timeout)|^(?:network )?timeout at: |timeout was reached|i/o timeout|tls handshake timeout|deadline exceeded`),
		says(Network, `\b(?:ECONNRESET|ECONNREFUSED|ECONNABORTED|ETIMEDOUT|ESOCKETTIMEDOUT|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH)\b`),
		says(Network, `(?i)socket hang up|empty reply from server|failed to respond|remote end (?:closed|hung up)|early eof|(?:unexpected|": ) ?eof$|transfer closed with|incomplete ?read|unexpected disconnect|error sending request|invalid response body|pip-unpack-\S+ is invalid`),
		says(Server, `(?i)service (?:temporarily )?unavailable|bad gateway|gateway time-?out|trouble with the npm registry`),

		// pip and apt print these for an unknown name and for an unreachable server alike.
		follows(Fixable, `from versions: none`, "(pip also says so if the index answers with an error)"),
		follows(Fixable, `Unable to locate package|has no installation candidate`, ""),
		follows(Fixable, `(?i)permission denied|\beacces\b|command not found|no such file or directory`, ""),
	}
})
