package gitcmd

import (
	"errors"
	"slices"
	"strings"
)

// ErrUnreachable: a remote was not reached, or the connection ended before the answer did. Trying again later
// may help.
var ErrUnreachable = errors.New("the remote cannot be reached")

// networkWords are what git, ssh and curl print, in lower case, when the network or the other side has passing trouble.
var networkWords = []string{
	"could not resolve host", "temporary failure in name resolution", "name or service not known",
	"connection timed out", "operation timed out", "connection refused", "connection reset", "connection closed by",
	"network is unreachable", "no route to host", "couldn't connect to server", "failed to connect to",
	"the remote end hung up unexpectedly", "unexpected disconnect", "early eof", "rpc failed",
	"returned error: 429", "returned error: 500", "returned error: 502", "returned error: 503", "returned error: 504",
	"kex_exchange_identification",
}

// refusals are what is printed, in lower case, when the other side answered and waiting changes nothing: git then complains that it hung up, too.
var refusals = []string{
	"does not appear to be a git repository", "repository not found", "permission denied", "authentication failed",
	"could not read username", "could not read password", "host key verification failed",
}

// Is makes errors.Is(err, ErrUnreachable) true for what git, ssh and curl say of a network.
func (e *Error) Is(target error) bool {
	stderr := strings.ToLower(e.Stderr)
	said := func(words string) bool { return strings.Contains(stderr, words) }
	return target == ErrUnreachable && !slices.ContainsFunc(refusals, said) && slices.ContainsFunc(networkWords, said)
}
