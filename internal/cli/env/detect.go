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
		Use: "detect",
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
