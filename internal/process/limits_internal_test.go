package process

import (
	"errors"
	"testing"
)

// git says "unable to fork" of a program that isn't there, too.
func TestAMissingProgramIsNotALimit(t *testing.T) {
	t.Parallel()
	if what, _ := Exhausted(errors.New("git push: error: cannot run ssh: No such file or directory; fatal: unable to fork")); what != "" {
		t.Errorf("a missing ssh is taken for: %s", what)
	}
	if what, _ := Exhausted(errors.New("git push: error: cannot fork() for ssh; fatal: unable to fork")); what == "" {
		t.Error("a limit of processes is not seen")
	}
}
