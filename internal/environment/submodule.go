package environment

import "strings"

// SubmoduleError: files of submodules cannot be had, so a commit cannot be worked on. Trying again does not help
// unless Passing says so.
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
