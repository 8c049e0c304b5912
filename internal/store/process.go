package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// process tells one process from every other, also after its pid was given to
// another and after a restart of the machine.
type process struct {
	Host   string
	BootID string
	PID    int
	// Start is clock ticks after boot.
	Start uint64
}

func currentProcess() (process, error) {
	host, err := os.Hostname()
	if err != nil {
		return process{}, fmt.Errorf("read host name: %w", err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return process{}, fmt.Errorf("read boot id: %w", err)
	}
	start, err := processStart(os.Getpid())
	if err != nil {
		return process{}, err
	}
	return process{Host: host, BootID: strings.TrimSpace(string(boot)), PID: os.Getpid(), Start: start}, nil
}

// processStart reads when pid was started. Of a pid that nobody has it returns fs.ErrNotExist.
func processStart(pid int) (uint64, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("read start of process %d: %w", pid, err)
	}
	// The second field is the program's name, in parentheses and with any bytes inside.
	_, rest, ok := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	fields := strings.Fields(string(rest))
	const start = 22 - 3 // field 22, counted from the third
	if !ok || len(fields) <= start {
		return 0, fmt.Errorf("read start of process %d: unexpected line", pid)
	}
	return strconv.ParseUint(fields[start], 10, 64)
}

// lives reports whether the process with that pid and start is still there. In
// doubt it is.
func lives(pid int, start uint64) bool {
	now, err := processStart(pid)
	if errors.Is(err, os.ErrNotExist) {
		return false
	}
	return err != nil || now == start
}
