package session

import (
	"fmt"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// settleIn makes the process one that nothing ties to who started it.
func settleIn(dir string) error {
	unix.Umask(0o077)
	debug.SetGCPercent(hostGC)
	if err := os.Chdir(dir); err != nil {
		return fmt.Errorf("enter folder of session: %w", err)
	}
	log, err := os.OpenFile(logFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, privateFile)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	defer func() { _ = log.Close() }()
	if err := unix.Dup3(int(log.Fd()), 2, 0); err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	return nil
}

// hostGC is the garbage, in percent of what is in use, that a host lets pile up: there are many
// of them and each has little to do.
const hostGC = 25
