package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Identity tells one process from every other, even after its pid is reused and
// after a restart of the machine.
type Identity struct {
	Host   string
	BootID string
	PID    int
	// Start is clock ticks after boot.
	Start uint64
}

// Current returns the identity of this process.
func Current() (Identity, error) {
	host, err := os.Hostname()
	if err != nil {
		return Identity{}, fmt.Errorf("read host name: %w", err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Identity{}, fmt.Errorf("read boot id: %w", err)
	}
	ticks, err := startOf("self")
	if err != nil {
		return Identity{}, err
	}
	start, err := strconv.ParseUint(ticks, 10, 64)
	if err != nil {
		return Identity{}, fmt.Errorf("read start of this process: %w", err)
	}
	return Identity{Host: host, BootID: strings.TrimSpace(string(boot)), PID: os.Getpid(), Start: start}, nil
}

// Lives reports whether the process with that pid and start still exists. In
// doubt it does.
func Lives(pid int, start uint64) bool {
	now, err := startOf(strconv.Itoa(pid))
	if errors.Is(err, os.ErrNotExist) {
		return false
	}
	return err != nil || now == strconv.FormatUint(start, 10)
}

// Suspended reports whether the process that started this many clock ticks after boot exists and is suspended: by SIGSTOP, by Ctrl-Z or in a
// debugger.
func Suspended(pid int, start uint64) bool {
	id := strconv.Itoa(pid)
	if began, err := startOf(id); err != nil || began != strconv.FormatUint(start, 10) {
		return false
	}
	stat, err := os.ReadFile("/proc/" + id + "/stat")
	if err != nil {
		return false
	}
	// The state follows the name, which is in parentheses.
	rest := strings.TrimSpace(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return strings.HasPrefix(rest, "T") || strings.HasPrefix(rest, "t")
}
