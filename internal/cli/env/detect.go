package env

import (
	"context"

	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/redact"
)

func newEnvDetect(a *command.Invocation) *cobra.Command {
	var language string
	c := &cobra.Command{
		Use:   "detect",
		Short: "Show the setup a run would begin with, and which files say so",
		Long: "Look at the files of the project as they are now, tracked or not but never ignored, and print what tells of an\n" +
			"environment, which one is chosen and why, and the set-up that a run would begin with: the configuration's\n" +
			"(environment.set_up), else what the project describes itself, else what its lock files and manifests need. Parts of\n" +
			"the project that it passes by are named. Nothing is run. A run does the same with the commit that it starts from.\n\n" +
			"With --json set_up is the set-up of a run; everything else is what was detected.",
		Example: "  signalbox env detect\n  signalbox env detect --language typescript\n  signalbox env detect --json | jq -r '.set_up.setup_commands[]'",
		RunE: func(c *cobra.Command, _ []string) error {
			return detectEnvironment(c.Context(), a, language)
		},
	}
	c.Flags().StringVar(&language, "language", "", "the language of the task, which decides where several environments fit")
	_ = c.RegisterFlagCompletionFunc("language", cobra.FixedCompletions([]string{"python", "typescript", "javascript", "java", "kotlin", "go"},
		cobra.ShellCompDirectiveNoFileComp))
	return c
}

func detectEnvironment(ctx context.Context, a *command.Invocation, language string) error {
	found, err := environments.Detect(ctx, a.Opener, language)
	if err != nil {
		return err
	}
	if a.JSON {
		for i := range found.Files {
			found.Files[i].Content = found.Hide(found.Files[i].Content)
		}
		return printDetectionJSON(a, found.Result, found.SetUp)
	}
	return printDetection(a, &found.Result, &found.SetUp, func(text string) string { return redact.Line(found.Hide(text), 300) })
}
