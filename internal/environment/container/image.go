package container

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"signalbox/internal/environment"
	"signalbox/internal/environment/container/engine"
	"signalbox/internal/environment/egress"
	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/redact"
)

func (d *Driver) image(ctx context.Context, name string) (engine.Image, error) {
	a, err := d.engine.Do(ctx, engine.Order{Op: engine.OpImage, Name: name})
	if err != nil {
		return engine.Image{}, err
	}
	return *a.Image, nil
}

// recipe is a Dockerfile at a commit.
type recipe struct {
	tree string // of the Dockerfile's folder, which is the context
	file string // in the context
	name string // of the image
}

// reference returns the name of the image that an environment wants, and how to build it, if it is built.
func (d *Driver) reference(ctx context.Context, s environment.Spec) (string, *recipe, error) {
	file, found := strings.CutPrefix(s.Image, "file:")
	if d.config.Dockerfile != "" {
		file, found = d.config.Dockerfile, true
	}
	if found {
		r, err := d.recipe(ctx, s.Commit, file)
		if err != nil {
			return "", nil, fmt.Errorf("%w: find %s: %w", ErrNoImage, file, err)
		}
		return r.name, r, nil
	}
	for _, name := range []string{s.Image, d.config.Image} {
		if name != "" {
			return name, nil, nil
		}
	}
	return "", nil, fmt.Errorf("%w: name one in environment.image, or a Dockerfile in environment.dockerfile", ErrNoImage)
}

// recipe reads the Dockerfile's folder as it is at commit. The image's name contains the folder's digest, so
// each content is built once.
func (d *Driver) recipe(ctx context.Context, commit, file string) (*recipe, error) {
	file = filepath.ToSlash(filepath.Clean(file))
	if !filepath.IsLocal(file) {
		return nil, errors.New("want a path in the project")
	}
	folder := path.Dir(file)
	if folder == "." {
		folder = ""
	}
	if _, err := d.git(ctx, "cat-file", "-e", commit+":"+file); err != nil {
		return nil, err
	}
	tree, err := d.git(ctx, "rev-parse", "--verify", "--quiet", commit+":"+folder)
	tree = strings.TrimSpace(tree)
	if err != nil || !git.ValidID(tree) {
		return nil, fmt.Errorf("read its folder: %w", errors.Join(err))
	}
	name := path.Base(file)
	return &recipe{tree: tree, file: name, name: d.repository + ":build-" + tree + "-" + hash(name)[:32]}, nil
}

// build builds a recipe's image.
func (d *Driver) build(ctx context.Context, r *recipe) (image engine.Image, err error) {
	files, err := os.CreateTemp(d.config.Clone.State, "build-*.tar")
	if err != nil {
		return image, fmt.Errorf("write build context: %w", err)
	}
	defer func() { err = errors.Join(err, files.Close(), os.Remove(files.Name())) }()
	if _, err := d.git(ctx, "archive", "--format=tar", "--output="+files.Name(), r.tree); err != nil {
		return image, fmt.Errorf("write build context: %w", err)
	}
	network := "default"
	if d.config.Network != egress.Full {
		network = "none"
	}
	d.config.Logger.Info("build image", "dockerfile", r.file, "image", r.name)
	a, err := d.engine.Do(ctx, engine.Order{Op: engine.OpBuild, Build: &engine.Build{
		Context: files.Name(), Dockerfile: r.file, Name: r.name, Network: network,
		Labels: map[string]string{labelProject: d.config.Clone.Root},
	}})
	if err != nil {
		return image, fmt.Errorf("%w: build %s: %w", ErrNoImage, r.file, err)
	}
	return *a.Image, nil
}

// gitTotal ends a git that hangs. Packing a context of gigabytes takes minutes.
const gitTotal = 30 * time.Minute

// git runs git in the project's own repository.
func (d *Driver) git(ctx context.Context, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	result, err := d.config.Clone.Exec.Exec(ctx, process.Command{
		Args: append([]string{"git"}, args...), Dir: d.config.Clone.Root, Stdout: &stdout, Stderr: &stderr, Total: gitTotal,
		Env: []string{"PATH=" + os.Getenv("PATH"), "GIT_DIR=" + d.config.Clone.Repo.GitDir(), "GIT_CONFIG_NOSYSTEM=1",
			"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"},
	})
	if err != nil {
		return "", err
	}
	if !result.OK() {
		return "", fmt.Errorf("git %s exited %d: %q", args[0], result.ExitCode, redact.Cut(stderr.String(), engine.Shown))
	}
	return stdout.String(), nil
}
