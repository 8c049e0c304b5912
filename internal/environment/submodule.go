package environment

import "strings"

// SubmoduleError: files of submodules are unavailable, so a commit can't be worked on. Trying again helps only if Passing is set.
type SubmoduleError struct {
	// Problems are one sentence each, and name the submodule.
	Problems []string
	// Hosts are those that environment.allow would have to name.
	Hosts []string
	// Closed: the network is closed altogether.
	Closed bool
	// Passing: a network or a server does not answer.
	Passing bool
}

func (e *SubmoduleError) Error() string { return strings.Join(e.Problems, "; ") }
