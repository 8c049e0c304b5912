package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/probe"
	"signalbox/internal/process"
	"signalbox/internal/workflow"
)

const probeName = "probe"

func newProbe(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    probeName + " CHECK",
		Short:  "Start a service and send it a request (used by health checks)",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE:   func(c *cobra.Command, args []string) error { return a.probe(c.Context(), args[0]) },
	}
}

func (a *app) probe(ctx context.Context, question string) error {
	var check workflow.HealthCheck
	if err := json.Unmarshal([]byte(question), &check); err != nil || check.HTTP == nil {
		return &problem{err: errors.Join(errors.New("want a health check with http, as JSON"), err), code: exitUsage}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(check.TimeLimitMS)*time.Millisecond)
	defer cancel()
	err := probe.StartAndAsk(ctx, *check.HTTP, process.Host{}, os.Environ())
	var answer *probe.Answer
	if errors.As(err, &answer) {
		a.print("%s\n", answer.Problem)
		return &problem{code: exitError}
	}
	return err
}
