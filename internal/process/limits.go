package process

import (
	"fmt"
	"strings"
)

// Limits bound what a program and everything it starts may use together. Zero is no limit.
type Limits struct {
	// Memory is in bytes, swap included. Beyond it the kernel's OOM killer strikes (NoMemory).
	Memory int64
	// CPUs is processor time per time: 1.5 is one and a half processors.
	CPUs float64
	// Processes counts threads too; beyond it none can be started.
	Processes int
}

// controllers returns the kernel's names for what has to be limited.
func (l Limits) controllers() (names []string) {
	if l.Memory > 0 {
		names = append(names, "memory")
	}
	if l.CPUs > 0 {
		names = append(names, "cpu")
	}
	if l.Processes > 0 {
		names = append(names, "pids")
	}
	return names
}

// LimitsNote says which limits cannot be held here, because no control group may be made; empty
// when all can. Programs run without those.
func LimitsNote(l Limits) string {
	words := map[string]string{"memory": "memory", "cpu": "processors", "pids": "processes"}
	parents := groupParents(l.controllers())
	var missing []string
	for _, controller := range l.controllers() {
		if _, ok := parents[controller]; !ok {
			missing = append(missing, words[controller])
		}
	}
	if missing == nil {
		return ""
	}
	return fmt.Sprintf("the limit of %s cannot be held: no control group of it may be made here", strings.Join(missing, " and "))
}
