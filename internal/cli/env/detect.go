package env

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/config"
	"signalbox/internal/environment/detect"
	"signalbox/internal/redact"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func newEnvDetect(a *command.Invocation) *cobra.Command {
	var language string
	c := &cobra.Command{
		Use: "detect",
		RunE: func(c *cobra.Command, _ []string) error {
			found, err := environments.Detect(c.Context(), a.Opener, language)
			if err != nil {
				return err
			}
			if !a.JSON {
				d := &detection{a, &found.Result, &found.SetUp, func(text string) string { return redact.Line(found.Hide(text), 300) }}
				d.print()
				return nil
			}
			for i := range found.Files {
				found.Files[i].Content = found.Hide(found.Files[i].Content)
			}
			rest, err := json.Marshal(found.Result)
			if err != nil {
				return fmt.Errorf("print detection: %w", err)
			}
			return a.PrintJSON(struct {
				SetUp wire.PlannedSetUp `json:"set_up"`
				Found jsontext.Value    `json:",embed"`
			}{found.SetUp, rest})
		},
	}
	c.Flags().StringVar(&language, "language", "", "the language of the task, which decides if several environments fit")
	_ = c.RegisterFlagCompletionFunc("language", cobra.FixedCompletions([]string{"python", "typescript", "javascript", "java", "kotlin", "go"},
		cobra.ShellCompDirectiveNoFileComp))
	return c
}

// detection prints what was found in a project and the setup that a run would begin with. show cleans text from the project.
type detection struct {
	*command.Invocation
	found *detect.Result
	setUp *wire.PlannedSetUp
	show  func(string) string
}

func (d *detection) print() {
	r, s := d.found, d.setUp
	d.printFiles()
	name, reason := s.Environment, r.Reason
	switch {
	case s.Environment != r.Environment:
		reason = "environment.name of " + config.Name
	case r.Default:
		name += ", the default"
	}
	var versions []string
	for _, tool := range slices.Sorted(maps.Keys(r.Versions)) {
		versions = append(versions, tool+" "+r.Versions[tool])
	}
	for _, field := range [][2]string{{"environment", name}, {"reason", reason}, {"image", s.Image},
		{"versions", strings.Join(versions, ", ")}, {"setup", d.whyNoSetUp()}} {
		if field[1] != "" {
			d.Print("%s  %s\n", d.Paint(command.Bold, fmt.Sprintf("%-11s", field[0])), d.show(field[1]))
		}
	}
	d.printSetUp()
	d.printOthers()
	if len(r.Notes) > 0 {
		d.Print("\n")
	}
	for _, note := range r.Notes {
		d.Print("%s %s\n", d.Paint(command.Yellow, "note:"), d.show(note))
	}
}

// printFiles prints the files that say something, with their role.
func (d *detection) printFiles() {
	table, asked := tabwriter.NewWriter(d.Out, 0, 0, 2, ' ', 0), map[string]int{}
	for _, dependency := range d.found.Dependencies {
		asked[dependency.File]++
	}
	for _, f := range d.found.Files {
		role := "description"
		switch {
		case f.Problem != "":
			role = "not understood"
		case f.Lock:
			role = "lock file"
		case f.Manifest:
			role = "manifest"
		case f.Kind == "Dockerfile" || f.Kind == "docker-compose.yml":
			role = "images"
		case f.Kind == "script":
			role = "script"
		}
		switch n := asked[f.Path]; n {
		case 0:
		case 1:
			role += ", 1 dependency"
		default:
			role += fmt.Sprintf(", %d dependencies", n)
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", d.show(f.Path), f.Environment, role)
	}
	if len(d.found.Files) > 0 {
		_, _ = fmt.Fprintln(table)
	}
	_ = table.Flush()
}

// whyNoSetUp is empty if there is a setup.
func (d *detection) whyNoSetUp() string {
	r, s := d.found, d.setUp
	switch {
	case len(s.Commands) > 0:
		return ""
	case s.Source == wire.SourceConfiguration:
		return "none: " + config.Name + " has only environment.verify"
	case r.Default && slices.ContainsFunc(r.Descriptions, func(d detect.Description) bool { return d.Kind == "Makefile" }):
		return "none: a run begins without one, because no target of the Makefile is for it (setup, bootstrap, deps, install)"
	case r.Default:
		return "none: a run begins without one"
	}
	return "none: nothing needs to be set up"
}

func (d *detection) printSetUp() {
	s := d.setUp
	from, title := s.From, "verified when each prints OK"
	if s.Source == wire.SourceConfiguration {
		from += " (environment.set_up)"
	}
	own := slices.ContainsFunc(s.Verification, func(v workflow.Verification) bool { return v.Expected != "OK" })
	if own {
		title = "verified when each prints the text after =>"
	}
	var checks []string
	for _, v := range s.Verification {
		check := v.Command
		if own {
			check += fmt.Sprintf("  => %q", v.Expected)
		}
		checks = append(checks, check)
	}
	d.printCommands("setup, from "+d.show(from), s.Commands)
	d.printCommands(title, checks)
	if s.Planned {
		d.Print("\nThe planner is shown what was detected and may answer with another setup.\n")
	}
}

// printOthers prints the project's own checks, the setups that aren't used, and the parts that the setup leaves out.
func (d *detection) printOthers() {
	r, configured := d.found, d.setUp.Source == wire.SourceConfiguration
	for _, x := range r.Descriptions {
		d.printCommands(fmt.Sprintf("%s says how it is checked (tests in %s)", d.show(x.Path), config.Name), x.Checks)
	}
	if configured && r.SetUpSource != "" {
		d.printCommands(fmt.Sprintf("%s asks for, not taken: %s comes first", d.show(r.SetUpSource), config.Name), r.SetUp)
	}
	for _, x := range r.Descriptions {
		why := x.Unfit
		switch {
		case x.Path == r.SetUpSource:
			continue
		case why == "" && configured:
			why = config.Name + " comes first"
		case why == "":
			why = r.SetUpSource + " comes first"
		}
		d.printCommands(fmt.Sprintf("%s says, not taken: %s", d.show(x.Path), d.show(why)), x.Commands)
	}
	if configured || len(r.NotSetUp) == 0 {
		return
	}
	for _, part := range r.NotSetUp {
		d.printCommands(fmt.Sprintf("not set up: %s (%s), which would take", d.show(part.Source), part.Environment), part.Commands)
	}
	d.Print("\nTo set up more than one part, list the commands of all in environment.set_up of %s.\n", config.Name)
}

func (d *detection) printCommands(title string, commands []string) {
	if len(commands) == 0 {
		return
	}
	d.Print("\n%s\n", d.Paint(command.Bold, title))
	for _, command := range commands {
		for line := range strings.Lines(command) {
			d.Print("  %s\n", d.show(line))
		}
	}
}
