// Package beside turns this process into a program that is installed beside it: a front end that needs more than signalbox may import.
package beside

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"signalbox/internal/problem"
)

// Become returns only if it fails.
func Become(program string, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find %s: %w", program, err)
	}
	err = syscall.Exec(filepath.Join(filepath.Dir(self), program), append([]string{program}, args...), os.Environ())
	if errors.Is(err, os.ErrNotExist) {
		return &problem.Error{Err: fmt.Errorf("%s is not installed beside signalbox", program), Hint: "install it: go install ./cmd/" + program}
	}
	return fmt.Errorf("start %s: %w", program, err)
}
