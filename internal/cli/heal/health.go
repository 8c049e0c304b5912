package heal

import (
	"fmt"

	"github.com/spf13/cobra"

	"signalbox/internal/app/healing"
	"signalbox/internal/cli/command"
	"signalbox/internal/forge"
	"signalbox/internal/health"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
)

func NewHealth(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{Use: "health"}
	c.AddCommand(newHealthShow(a), newHealthInit(a), newHealthValidate(a), newGate(a, false), newHealthRecord(a), newHealthEscalate(a), newHealthRestore(a))
	return c
}

// tellRestored says on standard error how a broken file was restored.
func tellRestored(a *command.Invocation, r healing.Restoration, did string) {
	if r.Broken == nil {
		return
	}
	from, kept := "zero, with the totals as they were", ""
	if r.Backup {
		from = "state.json.bak"
	}
	if r.Kept != "" {
		kept = "; the broken file is kept as " + r.Kept
	}
	a.Warn("%s; %s %s%s", r.Broken, did, from, kept)
}

// tellCritical says on standard error that a request is open about a critical state.
func tellCritical(a *command.Invocation, h health.State, request *forge.Request) {
	_, _ = fmt.Fprintf(a.Err, "%s %s; request %s is open about it (%s)\n", a.Paint(command.Red, "critical:"), h.FailedInARow(), request.ID, request.Path)
}

func newHealthShow(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "show",
		RunE: func(c *cobra.Command, _ []string) error {
			h, err := healing.State(c.Context(), a.Opener)
			if err != nil {
				return err
			}
			return a.Show(h, func() {
				printHealth(a, h, h.Gate(0, a.Opener.Now()))
				printCriticalAdvice(a, h, h.LastHealthStatus == health.Critical)
			})
		},
	}
}

func newHealthInit(a *command.Invocation) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use: "init",
		RunE: func(c *cobra.Command, _ []string) error {
			kept, err := healing.Begin(c.Context(), a.Opener, force)
			if err != nil {
				return err
			}
			return a.Show(map[string]string{"kept": kept}, func() {
				if kept != "" {
					a.Print("the old file is kept as %s\n", kept)
				}
			})
		},
	}
	c.Flags().BoolVar(&force, "force", false, "create it even if there is one, broken or not; the old one is kept as state.json.former-<time>")
	return c
}

func newHealthValidate(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "validate",
		RunE: func(c *cobra.Command, _ []string) error {
			h, err := healing.State(c.Context(), a.Opener)
			if err != nil {
				return err
			}
			if err := h.Validate(); err != nil {
				return &problem.Error{Err: err, Hint: `fix state.json, or begin anew: signalbox health init --force`}
			}
			return a.Show(map[string]bool{"valid": true}, func() { a.Print("state.json is valid\n") })
		},
	}
}

func newHealthRecord(a *command.Invocation) *cobra.Command {
	var fact health.Fact
	var kinds []cobra.Completion
	for _, kind := range health.FactKinds {
		kinds = append(kinds, string(kind))
	}
	c := &cobra.Command{
		Use: "record FACT", Args: cobra.ExactArgs(1), ValidArgs: kinds,
		RunE: func(c *cobra.Command, args []string) error {
			fact.Kind = health.FactKind(args[0])
			recorded, err := healing.Record(c.Context(), a.Opener, fact)
			tellRestored(a, recorded.Restored, "continuing from")
			is := recorded.State.LastHealthStatus
			switch {
			case err != nil:
				return err
			case recorded.Request != nil:
				tellCritical(a, recorded.State, recorded.Request)
			case fact.Kind == health.FactRearmed && recorded.Was != health.Critical:
				a.Print("the state is %s, not critical: nothing to rearm\n", redact.Line(is, 60))
			case fact.Kind == health.FactRearmed:
				a.Print("rearmed; check now, and repair the open errors: signalbox heal\n")
			case fact.Kind == health.FactHealthy && is != health.Healthy:
				a.Print("noted; open errors aren't known to be gone, so a check is due: signalbox heal\n")
			}
			return nil
		},
	}
	c.Flags().StringVar(&fact.ErrorID, "error-id", "", "which error, in one word (error-detected)")
	c.Flags().StringVar(&fact.Summary, "summary", "", "the error in one sentence (error-detected)")
	return c
}

func newHealthEscalate(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "escalate",
		RunE: func(c *cobra.Command, _ []string) error {
			state, request, err := healing.Escalate(c.Context(), a.Opener)
			if err != nil {
				return err
			}
			return a.Show(map[string]string{"request": request.ID, "path": request.Path}, func() { tellCritical(a, state, request) })
		},
	}
}

func newHealthRestore(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "restore",
		RunE: func(c *cobra.Command, _ []string) error {
			restored, err := healing.Restore(c.Context(), a.Opener)
			if err != nil {
				return err
			}
			return a.Show(map[string]any{"restored": restored.Broken != nil, "from_backup": restored.Backup, "kept": restored.Kept}, func() {
				if restored.Broken == nil {
					a.Print("there is nothing to restore\n")
				}
				tellRestored(a, restored, "restored from")
			})
		},
	}
}
