package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"signalbox/internal/environment/container/engine"
)

func (d daemon) image(ctx context.Context, o engine.Order, a *engine.Answer) error {
	found, err := d.ImageInspect(ctx, o.Name)
	if err != nil {
		return err
	}
	a.Image = &engine.Image{ID: found.ID, Names: found.RepoTags}
	if found.Config != nil {
		a.Image.Labels, a.Image.Env = found.Config.Labels, found.Config.Env
	}
	return nil
}

func (d daemon) images(ctx context.Context, o engine.Order, a *engine.Answer) error {
	f := labelled(o.Labels)
	if o.Name != "" {
		f = f.Add("reference", o.Name)
	}
	found, err := d.ImageList(ctx, client.ImageListOptions{Filters: f})
	if err != nil {
		return err
	}
	for _, i := range found.Items {
		a.Images = append(a.Images, engine.Image{ID: i.ID, Names: i.RepoTags, Labels: i.Labels})
	}
	return nil
}

func (d daemon) tag(ctx context.Context, o engine.Order, _ *engine.Answer) error {
	_, err := d.ImageTag(ctx, client.ImageTagOptions{Source: o.Name, Target: o.To})
	return err
}

func (d daemon) removeImage(ctx context.Context, o engine.Order, _ *engine.Answer) error {
	// Docker removes an image that a container uses only by name, not by id.
	named := !strings.HasPrefix(o.Name, "sha256:")
	_, err := d.ImageRemove(ctx, o.Name, client.ImageRemoveOptions{Force: named, PruneChildren: true})
	if !named && errdefs.IsConflict(err) {
		return nil
	}
	return err
}

func (d daemon) build(ctx context.Context, o engine.Order, a *engine.Answer) error {
	b := o.Build
	if b == nil {
		return errors.New("no build is specified")
	}
	files, err := os.Open(b.Context)
	if err != nil {
		return fmt.Errorf("open build context: %w", err)
	}
	defer func() { _ = files.Close() }()
	built, err := d.ImageBuild(ctx, files, client.ImageBuildOptions{
		Tags: []string{b.Name}, Dockerfile: b.Dockerfile, Labels: b.Labels, NetworkMode: b.Network,
		Remove: true, ForceRemove: true,
	})
	if err != nil {
		return err
	}
	defer func() { _ = built.Body.Close() }()
	if err := progress(built.Body); err != nil {
		return err
	}
	return d.image(ctx, engine.Order{Name: b.Name}, a)
}

// progress reads the output of a build to its end. It returns the build's error with the lines before it.
func progress(from io.Reader) error {
	const lines = 5
	var last []string
	decoder := json.NewDecoder(from)
	for {
		var message struct {
			Stream string `json:"stream"`
			Error  string `json:"error"`
		}
		switch err := decoder.Decode(&message); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read progress of the build: %w", err)
		case message.Error != "":
			return fmt.Errorf("%s after %q", message.Error, last)
		case message.Stream != "":
			last = append(last[max(0, len(last)-lines+1):], message.Stream)
		}
	}
}
