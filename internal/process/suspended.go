package process

import (
	"os"
	"strconv"
	"strings"
)

// Suspended reports whether the process that started this many clock ticks after boot exists and is suspended: by SIGSTOP, by Ctrl-Z or in a
// debugger.
func Suspended(pid int, start uint64) bool {
	id := strconv.Itoa(pid)
	if began, err := startOf(id); err != nil || began != strconv.FormatUint(start, 10) {
		return false
	}
	stat, err := os.ReadFile(procPath(pid, "stat"))
	if err != nil {
		return false
	}
	// The state follows the name, which is in parentheses.
	rest := strings.TrimSpace(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return strings.HasPrefix(rest, "T") || strings.HasPrefix(rest, "t")
}
