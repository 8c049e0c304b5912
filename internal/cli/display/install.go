package display

import (
	"context"
	"errors"

	"signalbox/internal/cli/command"
	"signalbox/internal/git"
	"signalbox/internal/pipeline"
	"signalbox/internal/problem"
	"signalbox/internal/wire"
)

// Install writes CI files into the project, and shows what became of each and then what is to be done next.
func Install(ctx context.Context, a *command.Invocation, wanted []pipeline.File, force, dry bool, next string) error {
	repo, err := git.Open(ctx, a.Opener.Host(), a.Opener.Dir)
	if err != nil {
		return wire.Explained(err)
	}
	files, err := pipeline.Install(repo.Root(), wanted, force, dry)
	var differ *pipeline.DifferentError
	if errors.As(err, &differ) {
		return &problem.Error{Err: err, Hint: `keep yours, or replace them: --force (yours is then beside it, as NAME.orig)`}
	}
	if err != nil {
		return err
	}
	return a.Show(files, func() {
		printWritten(a, files, dry)
		if !dry {
			a.Print("%s", next)
		}
	})
}

func printWritten(a *command.Invocation, files []pipeline.Installed, dry bool) {
	words := map[string]string{pipeline.Missing: "written", pipeline.Same: "is there already", pipeline.Different: "replaced; what was there is beside it, as .orig"}
	if dry {
		words = map[string]string{pipeline.Missing: "would be written", pipeline.Same: "is there already", pipeline.Different: "differs; --force would replace it"}
	}
	for _, file := range files {
		a.Print("%-50s %s\n", file.Path, words[file.Found])
	}
}
