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

// mountName is the name (the last part of the zeroth argument) under which a program that has this
// package mounts overlays and does nothing else. That is settled before its main function, because
// whichever program uses the driver, a test's too, is the one that is started.
const mountName = "signalbox-mount"

func init() {
	if filepath.Base(os.Args[0]) == mountName {
		mountProgram(context.Background(), os.Args[1:])
	}
}

// firstFile is the number of the first file that a program is given beside the standard three.
const firstFile = 3

// mountedWord is what the program prints when all is mounted.
const mountedWord = "mounted"

// mountProgram listens at the addresses of its first argument, mounts overlays, three arguments
// each, says so, and waits until whoever started it has taken hold of its namespaces, or is dead.
// It does not return.
func mountProgram(ctx context.Context, args []string) {
	if args[0] != "" {
		if err := egress.Offer(ctx, firstFile, strings.Split(args[0], ",")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	args = args[1:]
	for ; len(args) >= 3; args = args[3:] {
		if err := mount(Mount{args[0], Layer{args[1]}, args[2]}, privateOptions); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	fmt.Println(mountedWord)
	_, _ = io.Copy(io.Discard, os.Stdin)
	unix.Exit(0) // at once: somebody waits, and the runtime would wait for the race detector
}

// privateOptions: without root the kernel keeps an overlay's marks among the attributes that
// belong to users. With them a folder that comes from below cannot be renamed (EXDEV), only copied.
var privateOptions = []string{"userxattr,index=off", "userxattr"}

// mountRights are the capabilities, in a user namespace of its own, of the program that mounts: to
// mount, to raise a loopback interface, and what the kernel does with its rights when a command first writes to a file of the
// base. They mean nothing outside, and commands have none of them.
var mountRights = []uintptr{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_SETFCAP, unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN}
