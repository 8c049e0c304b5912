package process

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
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

// ExhaustedAdvice is what a person can do where Exhausted is true.
const ExhaustedAdvice = "end programs that you do not need, or allow more processes: ulimit -u (of a service: TasksMax)"

// Exhausted reports whether err says that no further process could be started because of a limit: by us, or by git
// or bubblewrap, which say so in words (those of the C locale, in which we start them).
func Exhausted(err error) bool {
	if err == nil {
		return false
	}
	says := func(words string) bool { return strings.Contains(err.Error(), words) }
	return errors.Is(err, syscall.EAGAIN) && says("fork/exec") || says("Resource temporarily unavailable") || says("unable to fork")
}
