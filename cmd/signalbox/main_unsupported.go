//go:build !linux

// Command signalbox carries an issue to a merged change by driving coding agents.
package main

import (
	"fmt"
	"os"
	"runtime"
)

// main refuses every command, doctor included: without Linux's namespaces, pidfds and control groups it could neither confine an
// agent nor be sure to end it.
func main() {
	fmt.Fprintf(os.Stderr, "error: signalbox works on Linux only, and this is %s\n", runtime.GOOS)
	fmt.Fprintln(os.Stderr, "hint:  use it in a Linux virtual machine; docs/install.md says what is missing here")
	os.Exit(1)
}
