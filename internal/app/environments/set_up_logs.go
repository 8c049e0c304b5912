package environments

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// SetUpLog is the log of one setup command, with what the run's document says about it.
type SetUpLog struct {
	Log  string `json:"log"`
	Path string `json:"path"`
	// Kind is set-up, verification or earlier: a command that a correction removed from the setup. Number counts from 1 in each.
	Kind    string `json:"kind"`
	Number  int    `json:"number"`
	Of      int    `json:"of"`
	Command string `json:"command"`
	// Ended is how the command's last try ended: exit code 0, failed, not ended, or replaced.
	Ended string `json:"ended"`
	// Failures are the failed tries, oldest first, one line each.
	Failures []string `json:"failures"`

	order int
}

const (
	kindSetUp        = "set-up"
	kindVerification = "verification"
	kindEarlier      = "earlier"

	EndedBadly = "failed"
)

// Title names the command for people.
func (l *SetUpLog) Title() string {
	switch l.Kind {
	case kindEarlier:
		return "command " + strconv.Itoa(l.Number) + " of an earlier setup"
	case kindSetUp:
		return fmt.Sprintf("setup %d of %d", l.Number, l.Of)
	}
	return fmt.Sprintf("%s %d of %d", l.Kind, l.Number, l.Of)
}

// SetUpLogs are the logs with these names, in the order of the setup.
func SetUpLogs(run *workflow.Run, dir string, names []string) []SetUpLog {
	logs, s := []SetUpLog{}, cmp.Or(run.Details.SetUp, &workflow.SetUp{})
	for _, name := range names {
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(name, "setup.command."), ".log"))
		if err != nil || n < 1 {
			continue
		}
		log := SetUpLog{Log: name, Path: path.Join(dir, name), Kind: kindEarlier, Number: n, order: n, Failures: []string{}}
		switch commands, v := len(s.Commands), n-len(s.Commands); {
		case v <= 0:
			log.Kind, log.Of, log.Command = kindSetUp, commands, s.Commands[n-1]
		case v <= len(s.Verification):
			log.Kind, log.Number, log.Of, log.Command = kindVerification, v, len(s.Verification), s.Verification[v-1].Command
		}
		log.ended(s)
		logs = append(logs, log)
	}
	slices.SortFunc(logs, func(a, b SetUpLog) int { return a.order - b.order })
	return logs
}

// ended fills in how the tries of the command ended, from the setup's record.
func (l *SetUpLog) ended(s *workflow.SetUp) {
	for _, r := range slices.Concat(s.Ran, s.Verified) {
		if path.Base(r.LogPath) == l.Log {
			l.Ended = fmt.Sprintf("exit code 0 after %s", time.Duration(r.DurationMS)*time.Millisecond)
		}
	}
	command := redact.Clean(l.Command)
	for _, message := range s.Errors {
		rest, mine := strings.CutPrefix(message, command)
		if mine && command != "" && (strings.HasPrefix(rest, ": ") || strings.HasPrefix(rest, " printed ")) {
			first, _, _ := strings.Cut(strings.TrimLeft(rest, ": "), "\n")
			l.Failures = append(l.Failures, first)
		}
	}
	switch {
	case l.Ended != "":
	case l.Kind == kindEarlier:
		l.Ended = "replaced by a correction"
	case l.order == s.Next+1 && s.Status == workflow.SetUpFailed || len(l.Failures) > 0:
		l.Ended = EndedBadly
	default:
		l.Ended = "not ended"
	}
}
