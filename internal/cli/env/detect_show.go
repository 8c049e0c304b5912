package env

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/cli/command"
	"signalbox/internal/config"
	"signalbox/internal/environment/detect"
	"signalbox/internal/wire"
)

func printDetectionJSON(a *command.Invocation, found detect.Result, setUp wire.PlannedSetUp) error {
	rest, err := json.Marshal(found)
	if err != nil {
		return fmt.Errorf("print detection: %w", err)
	}
	return a.PrintJSON(struct {
		SetUp wire.PlannedSetUp `json:"set_up"`
		Found jsontext.Value    `json:",embed"`
	}{setUp, rest})
}

func printDetection(a *command.Invocation, r *detect.Result, s *wire.PlannedSetUp, show func(string) string) error {
	if err := printDetectedFiles(a, r, show); err != nil {
		return err
	}
	name, reason := chosenName(r, s)
	for _, field := range [][2]string{{"environment", name}, {"reason", reason}, {"image", s.Image},
		{"versions", versionsOf(r)}, {"set-up", whyNoSetUp(r, s)}} {
		if field[1] != "" {
			a.Print("%s  %s\n", a.Paint(command.Bold, fmt.Sprintf("%-11s", field[0])), show(field[1]))
		}
	}
	printSetUp(a, s, show)
	printChecks(a, r, show)
	printNotTaken(a, r, s, show)
	printNotSetUp(a, r, s, show)
	if len(r.Notes) > 0 {
		a.Print("\n")
	}
	for _, note := range r.Notes {
		a.Print("%s %s\n", a.Paint(command.Yellow, "note:"), show(note))
	}
	return nil
}

func chosenName(r *detect.Result, s *wire.PlannedSetUp) (name, reason string) {
	switch {
	case s.Environment != r.Environment:
		return s.Environment, "environment.name of " + config.Name
	case r.Default:
		return s.Environment + ", the default", r.Reason
	}
	return s.Environment, r.Reason
}

// whyNoSetUp is empty where there is one.
func whyNoSetUp(r *detect.Result, s *wire.PlannedSetUp) string {
	switch {
	case len(s.Commands) > 0:
		return ""
	case s.Source == wire.SourceConfiguration:
		return "none: " + config.Name + " has only environment.verify"
	case r.Default && slices.ContainsFunc(r.Descriptions, func(d detect.Description) bool { return d.Kind == "Makefile" }):
		return "none: a run begins without one, for no target of the Makefile is for it (setup, bootstrap, deps, install)"
	case r.Default:
		return "none: a run begins without one"
	}
	return "none: nothing needs to be set up"
}

func versionsOf(r *detect.Result) string {
	var versions []string
	for _, tool := range slices.Sorted(maps.Keys(r.Versions)) {
		versions = append(versions, tool+" "+r.Versions[tool])
	}
	return strings.Join(versions, ", ")
}

func printDetectedFiles(a *command.Invocation, r *detect.Result, show func(string) string) error {
	table, asked := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0), map[string]int{}
	for _, d := range r.Dependencies {
		asked[d.File]++
	}
	for _, f := range r.Files {
		what := fileRole(&f)
		switch asked[f.Path] {
		case 0:
		case 1:
			what += ", 1 dependency"
		default:
			what += fmt.Sprintf(", %d dependencies", asked[f.Path])
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", show(f.Path), f.Environment, what)
	}
	if len(r.Files) > 0 {
		_, _ = fmt.Fprintln(table)
	}
	return table.Flush()
}

func fileRole(f *detect.File) string {
	switch {
	case f.Problem != "":
		return "not understood"
	case f.Lock:
		return "lock file"
	case f.Manifest:
		return "manifest"
	case f.Kind == "Dockerfile" || f.Kind == "docker-compose.yml":
		return "images"
	case f.Kind == "script":
		return "script"
	}
	return "description"
}
