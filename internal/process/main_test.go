package process_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The test binary, started with childVariable set, is one of children instead of running the
// tests. A child with lifelineVariable set holds that FIFO open for as long as it lives.
const (
	childVariable    = "PROCESS_TEST_CHILD"
	lifelineVariable = "PROCESS_TEST_LIFELINE"
)

func TestMain(m *testing.M) {
	if name, ok := os.LookupEnv(childVariable); ok {
		holdLifeline()
		children()[name]()
		os.Exit(0)
	}
	code := m.Run()
	if left := leaked(); left != "" && code == 0 {
		fmt.Fprintln(os.Stderr, "goroutines left behind:\n"+left)
		code = 1
	}
	os.Exit(code)
}

// patience is how long what must come may take; only a broken package needs it.
const patience = 2 * time.Minute

// leaked returns the stacks of goroutines that this package started and that do not end.
func leaked() string {
	const owner = "signalbox/internal/process.("
	stacks := make([]byte, 1<<20)
	for deadline := time.Now().Add(patience); ; runtime.Gosched() {
		all := string(stacks[:runtime.Stack(stacks, true)])
		if !strings.Contains(all, owner) {
			return ""
		}
		if time.Now().After(deadline) {
			return all
		}
	}
}
