package process

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Starters returns the ids of the living processes, except the calling one, that started a still living process with this variable assignment in
// its environment. It omits starters in other process namespaces.
func Starters(ctx context.Context, tag string) (starters []int, err error) {
	pids, err := processes()
	for _, pid := range pids {
		if !tagged(ctx, pid, tag) {
			continue
		}
		by := starterOf(ctx, pid)
		if starter, alive := starterLives(by); alive && starter != os.Getpid() && !slices.Contains(starters, starter) {
			starters = append(starters, starter)
		}
	}
	return starters, err
}

// starterLives returns the process that a tag's value names, and whether it is of this namespace and lives.
func starterLives(tag string) (pid int, alive bool) {
	parts := strings.Split(tag, ".")
	if len(parts) != 4 || !strings.HasSuffix(self(), "."+parts[2]) {
		return 0, false
	}
	start, err := startOf(parts[0])
	pid, errPID := strconv.Atoi(parts[0])
	return pid, err == nil && errPID == nil && start == parts[1]
}
