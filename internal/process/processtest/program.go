// Package processtest writes programs for tests that then start them.
package processtest

import (
	"os"
	"syscall"
)

// WriteProgram writes a program while nothing of this process is being started: a child that is
// forked between opening and closing the file holds it open for writing until it becomes another
// program, and the kernel starts none that is open for writing (ETXTBSY).
func WriteProgram(path string, content []byte, mode os.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, content, mode)
}
