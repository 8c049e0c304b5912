package env

import (
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/cli/command"
	"signalbox/internal/config"
	"signalbox/internal/environment/detect"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func printCommands(a *command.Invocation, title string, commands []string, show func(string) string) {
	if len(commands) == 0 {
		return
	}
	a.Print("\n%s\n", a.Paint(command.Bold, title))
	for _, command := range commands {
		for line := range strings.Lines(command) {
			a.Print("  %s\n", show(line))
		}
	}
}

func printSetUp(a *command.Invocation, s *wire.PlannedSetUp, show func(string) string) {
	from, title := s.From, "verified when each prints OK"
	if s.Source == wire.SourceConfiguration {
		from += " (environment.set_up)"
	}
	own := slices.ContainsFunc(s.Verification, func(v workflow.Verification) bool { return v.Expected != "OK" })
	if own {
		title = "verified when each prints what stands behind =>"
	}
	var checks []string
	for _, v := range s.Verification {
		check := v.Command
		if own {
			check += fmt.Sprintf("  => %q", v.Expected)
		}
		checks = append(checks, check)
	}
	printCommands(a, "set-up, from "+show(from), s.Commands, show)
	printCommands(a, title, checks, show)
	if s.Planned {
		a.Print("\nThe planner is shown what was detected and may answer with another set-up.\n")
	}
}

// printChecks shows how the project's descriptions have it built and tested.
func printChecks(a *command.Invocation, r *detect.Result, show func(string) string) {
	for _, d := range r.Descriptions {
		printCommands(a, fmt.Sprintf("%s says how it is checked (tests in %s)", show(d.Path), config.Name), d.Checks, show)
	}
}

// printNotTaken shows what else says how to set up, and why it is not followed.
func printNotTaken(a *command.Invocation, r *detect.Result, s *wire.PlannedSetUp, show func(string) string) {
	configured := s.Source == wire.SourceConfiguration
	if configured && r.SetUpSource != "" {
		printCommands(a, fmt.Sprintf("%s asks for, not taken: %s comes first", show(r.SetUpSource), config.Name), r.SetUp, show)
	}
	for _, d := range r.Descriptions {
		why := d.Unfit
		switch {
		case d.Path == r.SetUpSource:
			continue
		case why == "" && configured:
			why = config.Name + " comes first"
		case why == "":
			why = r.SetUpSource + " comes first"
		}
		printCommands(a, fmt.Sprintf("%s says, not taken: %s", show(d.Path), show(why)), d.Commands, show)
	}
}

// printNotSetUp shows the parts that the detected set-up passes by, with what each would take.
func printNotSetUp(a *command.Invocation, r *detect.Result, s *wire.PlannedSetUp, show func(string) string) {
	if s.Source == wire.SourceConfiguration || len(r.NotSetUp) == 0 {
		return
	}
	for _, part := range r.NotSetUp {
		printCommands(a, fmt.Sprintf("not set up: %s (%s), which would take", show(part.Source), part.Environment), part.Commands, show)
	}
	a.Print("\nTo set up more than one part, list the commands of all in environment.set_up of %s.\n", config.Name)
}
