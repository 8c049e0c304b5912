package environments

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/app"
	"signalbox/internal/problem"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// PortRange is one environment's own TCP ports.
type PortRange struct {
	EnvID string `json:"env_id,omitempty"`
	Issue int    `json:"issue_number"`
	First int    `json:"first"`
	Last  int    `json:"last"`
}

// Ports returns the ports of the environment that ref names by its id or by its issue's number, or of all if ref is empty.
func Ports(ctx context.Context, o *app.Opener, ref string) ([]PortRange, error) {
	doc, err := Read(ctx, o)
	if err != nil {
		return nil, err
	}
	ranges := []PortRange{}
	for _, e := range doc.Environments {
		if ref == "" || ref == e.EnvID || strings.TrimPrefix(ref, "#") == fmt.Sprint(e.IssueNumber) {
			first, last := workflow.Ports(e.IssueNumber)
			ranges = append(ranges, PortRange{e.EnvID, e.IssueNumber, first, last})
		}
	}
	if ref != "" && len(ranges) == 0 {
		return nil, Explained(ref, fmt.Errorf("environment %q: %w", ref, registry.ErrNoEnvironment))
	}
	return ranges, nil
}

// SetUpLogList are logs of a run's setup. Warm: an earlier run did the setup, and this one only verified it.
type SetUpLogList struct {
	*app.Logs
	List []SetUpLog
	Warm bool
}

// LogsOf lists the logs of the setup in the environment that ref names; with a name only that one.
func LogsOf(ctx context.Context, p *app.App, ref, name string) (list SetUpLogList, err error) {
	found, err := OfRun(ctx, p, ref)
	if err != nil {
		return list, err
	}
	list.Logs = p.Logs(found.Ref)
	names, err := list.Names()
	if err != nil {
		return list, err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, "setup.") })
	logs := SetUpLogs(&found.Run, list.Dir, names)
	if name != "" {
		logs = slices.DeleteFunc(logs, func(s SetUpLog) bool { return s.Log != name })
		if len(logs) == 0 {
			return list, &problem.Error{Err: fmt.Errorf("there is no log %q of the setup", name), Code: problem.NotFound,
				Hint: fmt.Sprintf("see which there are: signalbox env logs %s --list; and of all else: signalbox logs %[1]s --list", ref)}
		}
	}
	list.List, list.Warm = logs, found.Run.Details.SetUp != nil && found.Run.Details.SetUp.Warm
	return list, nil
}
