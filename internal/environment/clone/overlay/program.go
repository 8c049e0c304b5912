package overlay

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment/egress"
)

// mountName is the name (the last part of the zeroth argument) under which a program that links this
// package mounts overlays and does nothing else.
const mountName = "signalbox-mount"

// firstFile is the number of the first file that a program gets beside the standard three.
const firstFile = 3

// mountedWord is the line that the program prints when everything is mounted.
const mountedWord = "mounted"

// The mounting program runs before any main function, because it is whichever program uses the driver, a test's too. It listens
// at the addresses of its first argument, mounts overlays, three arguments each, says so, and waits until its starter has
// opened its namespaces, or is dead.
func init() {
	if filepath.Base(os.Args[0]) != mountName {
		return
	}
	addresses, mounts := os.Args[1], os.Args[2:]
	if addresses != "" {
		err := egress.RaiseLoopback()
		if err == nil {
			err = egress.Offer(context.Background(), firstFile, strings.Split(addresses, ","))
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	for ; len(mounts) >= 3; mounts = mounts[3:] {
		if err := Make(Mount{mounts[0], Layer{mounts[1]}, mounts[2]}, true); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	fmt.Println(mountedWord)
	_, _ = io.Copy(io.Discard, os.Stdin)
	unix.Exit(0) // at once: the starter waits, and the runtime would wait for the race detector
}

// mountRights are the capabilities that the mounting program has in its own user namespace: to mount, to raise a loopback
// interface, and the rights that the kernel uses when a command first writes to a file of the snapshot. They mean nothing
// outside, and commands have none of them.
var mountRights = []uintptr{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_SETFCAP, unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN}
