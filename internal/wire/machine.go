package wire

import (
	"signalbox/internal/environment/clone/seccomp"
	"signalbox/internal/forge/local"
)

// Remote is the remote that branches and merges are pushed to.
const Remote = local.Remote

// Filters reports whether this machine lets a sandbox close system calls.
func Filters() bool { return seccomp.Filters() }
