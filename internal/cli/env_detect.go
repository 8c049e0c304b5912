package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"signalbox/internal/config"
	"signalbox/internal/environment/detect"
	"signalbox/internal/git"
	"signalbox/internal/redact"
)

func newEnvDetect(a *app) *cobra.Command {
	var language string
	c := &cobra.Command{
		Use:   "detect",
		Short: "Show what the project's files say about the environment it needs, and why one is chosen",
		Long: "Look at the files of the project as they are now, tracked or not but never ignored, and print what tells of an\n" +
			"environment, which one is chosen and why, its set-up commands and what verifies them. Nothing is run. A run\n" +
			"does the same with the commit that it starts from.",
		Example: "  signalbox env detect\n  signalbox env detect --language typescript\n  signalbox env detect --json | jq -r '.setup_commands[]'",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.detectEnvironment(c.Context(), language)
		},
	}
	c.Flags().StringVar(&language, "language", "", "the language of the task, which decides where several environments fit")
	_ = c.RegisterFlagCompletionFunc("language", cobra.FixedCompletions([]string{"python", "typescript", "javascript", "java", "kotlin", "go"},
		cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) detectEnvironment(ctx context.Context, language string) error {
	dir, _, err := documentsRoot(a.Dir)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open project: %w", err)
	}
	defer func() { _ = root.Close() }()
	files := detect.Folder{Root: root}
	repo, err := git.Open(ctx, a.host(), dir)
	switch {
	case err == nil:
		files.Names = repo.WorkFiles
	case !errors.Is(err, git.ErrNotRepository):
		return explained(err)
	}
	settings, _, err := config.Load(filepath.Join(dir, config.Name), a.Env)
	if err != nil {
		return &problem{err: err, hint: "mend the file; \"signalbox init --print\" shows a commented one"}
	}
	found, err := detect.Detect(ctx, files, detect.Catalogue(settings.Environment.Images), language)
	if err != nil {
		return err
	}
	if e := settings.Environment; e.Name != "" || len(e.SetUp) > 0 {
		a.warn("the configuration's environment says how runs are set up; what is detected is for the planner to see")
	}
	hide := a.lateRedactor(dir)
	if a.json {
		for i := range found.Files {
			found.Files[i].Content = hide(found.Files[i].Content)
		}
		return a.printJSON(found)
	}
	return a.printDetection(&found, func(text string) string { return redact.Line(hide(text), 300) })
}

func (a *app) printDetection(r *detect.Result, show func(string) string) error {
	if err := a.printDetectedFiles(r, show); err != nil {
		return err
	}
	var versions, checks []string
	for _, tool := range slices.Sorted(maps.Keys(r.Versions)) {
		versions = append(versions, tool+" "+r.Versions[tool])
	}
	for _, v := range r.Verification {
		checks = append(checks, v.Command)
	}
	nothing := ""
	if len(r.SetUp) == 0 {
		nothing = "nothing needs to be set up"
	}
	for _, field := range [][2]string{{"environment", r.Environment}, {"reason", r.Reason}, {"image", r.Image},
		{"versions", strings.Join(versions, ", ")}, {"set-up", nothing}} {
		if field[1] != "" {
			a.print("%s  %s\n", a.paint(bold, fmt.Sprintf("%-11s", field[0])), show(field[1]))
		}
	}
	a.printCommands("set-up, from "+show(r.SetUpSource), r.SetUp, show)
	a.printCommands("verified when each prints OK", checks, show)
	a.printDescriptions(r, show)
	for _, note := range r.Notes {
		a.print("%s %s\n", a.paint(yellow, "note:"), show(note))
	}
	return nil
}

func (a *app) printDetectedFiles(r *detect.Result, show func(string) string) error {
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

func (a *app) printCommands(title string, commands []string, show func(string) string) {
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

// printDescriptions shows what the project says itself, where it was not taken.
func (a *app) printDescriptions(r *detect.Result, show func(string) string) {
	for _, d := range r.Descriptions {
		if d.Path == r.SetUpSource {
			continue
		}
		why := d.Unfit
		if why == "" {
			why = r.SetUpSource + " comes first"
		}
		a.printCommands(fmt.Sprintf("%s says, not taken: %s", show(d.Path), show(why)), d.Commands, show)
	}
	if len(r.Notes) > 0 {
		a.print("\n")
	}
}
