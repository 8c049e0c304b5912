package process

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// Limits limit what a program and everything it starts may use together. Zero is no limit.
type Limits struct {
	// Memory is in bytes, swap included. Beyond it the kernel's OOM killer strikes (NoMemory).
	Memory int64
	// CPUs is processor time per time: 1.5 is one and a half processors.
	CPUs float64
	// Processes counts threads too; beyond it none can be started.
	Processes int
}

// controllers returns the kernel's names of what is limited.
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

// LimitsNote names the limits that can't be enforced here, because no control group may be made;
// empty if all can. Programs run without them.
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

// Exhausted says which limit of this process err is about, and what a person can do about it; both are empty if it's about
// none. git and bubblewrap say so in words, those of the C locale, in which Signalbox starts them.
func Exhausted(err error) (what, advice string) {
	if err == nil {
		return "", ""
	}
	says := func(words string) bool { return strings.Contains(err.Error(), words) }
	switch {
	case errors.Is(err, syscall.EAGAIN) && says("fork/exec"), says("Resource temporarily unavailable"), says("unable to fork") && !says("No such file or directory"): // git says so, too, of a program that isn't there
		return "no further process can be started", "end programs that you do not need, or allow more processes: ulimit -u (of a service: TasksMax)"
	case errors.Is(err, syscall.EMFILE), says("Too many open files"):
		return "no further file can be opened", "allow more open files: ulimit -n (of a service: LimitNOFILE), or name fewer requests at once"
	}
	return "", ""
}
