package heal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/git"
	"signalbox/internal/pipeline"
	"signalbox/internal/problem"
	"signalbox/internal/wire"
)

// healInit is what "heal init" was asked for.
type healInit struct {
	github, gitlab bool
	force, dry     bool
}

func newHealInit(a *command.Invocation) *cobra.Command {
	var o healInit
	c := &cobra.Command{
		Use:   "init",
		Short: "Write the CI files for the self-healing loop",
		Long: "Write a GitHub workflow with its composite action, or a job for GitLab CI: on a schedule the state of the last pass is\n" +
			"brought back, the gate is asked, and where a pass is due it runs, its repair is pushed and the state kept for a week.\n" +
			"All files or none are written: one that is there and says something else is left, unless --force. They are the\n" +
			"project's from then on. docs/healing-in-ci.md says what they need.",
		Example: "  signalbox heal init --github --dry-run\n  signalbox heal init --gitlab",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return initHeal(c.Context(), a, o) },
	}
	c.Flags().BoolVar(&o.github, "github", false, "for GitHub Actions")
	c.Flags().BoolVar(&o.gitlab, "gitlab", false, "for GitLab CI")
	c.Flags().BoolVar(&o.force, "force", false, "replace files that say something else")
	c.Flags().BoolVarP(&o.dry, "dry-run", "n", false, "only say what would be written")
	return c
}

// writtenFile is a file of ours in a project and what becomes of it.
type writtenFile struct {
	Path string `json:"path"`
	// Found is "missing", "same" or "different".
	Found   string `json:"found"`
	Written bool   `json:"written"`
	content []byte
}

const (
	fileMissing   = "missing"
	fileSame      = "same"
	fileDifferent = "different"
)

func initHeal(ctx context.Context, a *command.Invocation, o healInit) error {
	wanted := o.files()
	if len(wanted) == 0 {
		return &problem.Error{Err: errors.New("for which CI?"), Hint: `"signalbox heal init --github" or "signalbox heal init --gitlab"`, Code: problem.Usage}
	}
	repo, err := git.Open(ctx, a.Opener.Host(), a.Opener.Dir)
	if err != nil {
		return wire.Explained(err)
	}
	root, err := os.OpenRoot(repo.Root())
	if err != nil {
		return fmt.Errorf("open project: %w", err)
	}
	defer func() { _ = root.Close() }()
	files, err := compared(root, wanted)
	if err == nil && !o.dry {
		err = writeAll(root, files, o.force)
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(files)
	}
	printWritten(a, files, o)
	return nil
}

func (o healInit) files() (wanted []pipeline.File) {
	if o.github {
		wanted = append(wanted, pipeline.GitHub()...)
	}
	if o.gitlab {
		wanted = append(wanted, pipeline.GitLab()...)
	}
	return wanted
}

// compared says of each file what the project has in its place.
func compared(root *os.Root, wanted []pipeline.File) (files []writtenFile, err error) {
	for _, file := range wanted {
		w := writtenFile{Path: file.Path, Found: fileDifferent, content: file.Content}
		present, err := root.ReadFile(file.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			w.Found = fileMissing
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", file.Path, err)
		case bytes.Equal(present, file.Content):
			w.Found = fileSame
		}
		files = append(files, w)
	}
	return files, nil
}

// writeAll puts each file in its place as a whole, or none if one is there that says something else.
func writeAll(root *os.Root, files []writtenFile, force bool) error {
	var different []string
	for _, file := range files {
		if file.Found == fileDifferent {
			different = append(different, file.Path)
		}
	}
	if len(different) > 0 && !force {
		return &problem.Error{Err: fmt.Errorf("already there, and different: %s; nothing was written", strings.Join(different, ", ")),
			Hint: `keep yours, or replace them: --force (yours is then beside it, as NAME.orig)`}
	}
	for i, file := range files {
		if file.Found == fileSame {
			continue
		}
		if err := replace(root, file); err != nil {
			return fmt.Errorf("write %s: %w", file.Path, err)
		}
		files[i].Written = true
	}
	return nil
}

func replace(root *os.Root, file writtenFile) error {
	if err := root.MkdirAll(path.Dir(file.Path), 0o777); err != nil {
		return err
	}
	if file.Found == fileDifferent {
		if err := setAside(root, file.Path); err != nil {
			return err
		}
	}
	unfinished := file.Path + ".new"
	err := root.WriteFile(unfinished, file.content, 0o666)
	if err == nil {
		err = root.Rename(unfinished, file.Path)
	}
	if err != nil {
		_ = root.Remove(unfinished)
	}
	return err
}

// setAside keeps what is there under a free name beside it: git may never have seen it.
func setAside(root *os.Root, name string) error {
	free := name + ".orig"
	for n := 2; ; n++ {
		err := root.Link(name, free)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		free = fmt.Sprintf("%s.orig%d", name, n)
	}
}

func printWritten(a *command.Invocation, files []writtenFile, o healInit) {
	words := map[string]string{fileMissing: "written", fileSame: "is there already", fileDifferent: "replaced; what was there is beside it, as .orig"}
	if o.dry {
		words = map[string]string{fileMissing: "would be written", fileSame: "is there already", fileDifferent: "differs; --force would replace it"}
	}
	for _, file := range files {
		a.Print("%-50s %s\n", file.Path, words[file.Found])
	}
	if o.github && !o.dry {
		a.Print("%s", nextOnGitHub)
	}
	if o.gitlab && !o.dry {
		a.Print("%s", nextOnGitLab)
	}
}

const (
	nextOnGitHub = `
Next, for GitHub:
  1. set SIGNALBOX in .github/workflows/signalbox-heal.yml: where CI gets Signalbox from
  2. there, install your agent and name the secret with its key
  3. commit the files; the schedule begins on the default branch
`
	nextOnGitLab = `
Next, for GitLab:
  1. in .gitlab-ci.yml: include: [{local: .gitlab/signalbox-heal.yml}]
  2. set SIGNALBOX in .gitlab/signalbox-heal.yml: where CI gets Signalbox from
  3. give CI the variable SIGNALBOX_GITLAB_TOKEN (read_api, write_repository), masked and protected;
     and SIGNALBOX_GITLAB_ISSUES_TOKEN (role Reporter, api), if an issue shall call you when repairs fail
  4. commit the files, and add a pipeline schedule with the variable SIGNALBOX_HEAL = true
`
)
