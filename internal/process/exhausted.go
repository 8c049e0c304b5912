package process

import (
	"errors"
	"strings"
	"syscall"
)

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
