package heal

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/probe"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func newProbe(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:    wire.ProbeName + " CHECK",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE:   func(c *cobra.Command, args []string) error { return probeHere(c.Context(), a, args[0]) },
	}
}

func probeHere(ctx context.Context, a *command.Invocation, question string) error {
	var check workflow.HealthCheck
	if err := json.Unmarshal([]byte(question), &check); err != nil || check.HTTP == nil {
		return &problem.Error{Err: errors.Join(errors.New("want a health check with http, as JSON"), err), Code: problem.Usage}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(check.TimeLimitMS)*time.Millisecond)
	defer cancel()
	err := probe.StartAndAsk(ctx, *check.HTTP, process.Host{}, os.Environ())
	var answer *probe.Answer
	if errors.As(err, &answer) {
		a.Print("%s\n", answer.Problem)
		return &problem.Error{Code: problem.General}
	}
	return err
}
