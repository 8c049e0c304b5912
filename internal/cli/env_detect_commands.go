package cli

import (
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/config"
	"signalbox/internal/environment/detect"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func (a *invocation) printCommands(title string, commands []string, show func(string) string) {
	if len(commands) == 0 {
		return
	}
	a.print("\n%s\n", a.paint(bold, title))
	for _, command := range commands {
		for line := range strings.Lines(command) {
			a.print("  %s\n", show(line))
		}
	}
}

func (a *invocation) printSetUp(s *wire.PlannedSetUp, show func(string) string) {
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
	a.printCommands("set-up, from "+show(from), s.Commands, show)
	a.printCommands(title, checks, show)
	if s.Planned {
		a.print("\nThe planner is shown what was detected and may answer with another set-up.\n")
	}
}

// printChecks shows how the project's descriptions have it built and tested.
func (a *invocation) printChecks(r *detect.Result, show func(string) string) {
	for _, d := range r.Descriptions {
		a.printCommands(fmt.Sprintf("%s says how it is checked (tests in %s)", show(d.Path), config.Name), d.Checks, show)
	}
}

// printNotTaken shows what else says how to set up, and why it is not followed.
func (a *invocation) printNotTaken(r *detect.Result, s *wire.PlannedSetUp, show func(string) string) {
	configured := s.Source == wire.SourceConfiguration
	if configured && r.SetUpSource != "" {
		a.printCommands(fmt.Sprintf("%s asks for, not taken: %s comes first", show(r.SetUpSource), config.Name), r.SetUp, show)
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
		a.printCommands(fmt.Sprintf("%s says, not taken: %s", show(d.Path), show(why)), d.Commands, show)
	}
}

// printNotSetUp shows the parts that the detected set-up passes by, with what each would take.
func (a *invocation) printNotSetUp(r *detect.Result, s *wire.PlannedSetUp, show func(string) string) {
	if s.Source == wire.SourceConfiguration || len(r.NotSetUp) == 0 {
		return
	}
	for _, part := range r.NotSetUp {
		a.printCommands(fmt.Sprintf("not set up: %s (%s), which would take", show(part.Source), part.Environment), part.Commands, show)
	}
	a.print("\nTo set up more than one part, list the commands of all in environment.set_up of %s.\n", config.Name)
}
