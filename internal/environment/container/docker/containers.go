package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"signalbox/internal/environment/container/engine"
)

func (d daemon) create(ctx context.Context, o engine.Order, a *engine.Answer) error {
	s := o.Spec
	if s == nil {
		return errors.New("no container is specified")
	}
	config := &container.Config{
		Image: s.Image, Labels: s.Labels, User: s.User, Hostname: "signalbox", WorkingDir: "/",
		Entrypoint: s.Program, Cmd: []string{},
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
	}
	// The container gets nothing of this machine but what s names.
	host := &container.HostConfig{
		NetworkMode: container.NetworkMode(s.Network), CapDrop: []string{"ALL"}, CapAdd: s.Capabilities,
		SecurityOpt: []string{"no-new-privileges"}, IpcMode: container.IPCModePrivate,
		RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyDisabled},
		// The first process's output helps to find out why it does not start.
		LogConfig: container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "1m", "max-file": "1"}},
		Resources: container.Resources{Memory: s.Memory, NanoCPUs: int64(s.CPUs * 1e9)},
	}
	if s.Memory > 0 {
		host.MemorySwap = s.Memory // memory and swap together: no swap beside it
	}
	if s.Processes > 0 {
		host.PidsLimit = &s.Processes
	}
	for _, m := range s.Mounts {
		host.Mounts = append(host.Mounts, mount.Mount{Type: mount.TypeBind, Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly})
	}
	created, err := d.ContainerCreate(ctx, client.ContainerCreateOptions{Config: config, HostConfig: host, Name: s.Name})
	if err != nil {
		return err
	}
	a.Container = &engine.Container{ID: created.ID}
	return nil
}

func (d daemon) container(ctx context.Context, o engine.Order, a *engine.Answer) error {
	found, err := d.ContainerInspect(ctx, o.Name, client.ContainerInspectOptions{})
	if err != nil {
		return err
	}
	c := found.Container
	a.Container = &engine.Container{ID: c.ID, Image: c.Image}
	if c.Config != nil {
		a.Container.Labels = c.Config.Labels
	}
	if c.State != nil {
		a.Container.Running, a.Container.First = c.State.Running, c.State.Pid
		a.Container.Going = c.State.Status == container.StateRemoving || c.State.Dead
		a.Container.Ended = strings.TrimSpace(fmt.Sprintf("%s, exit code %d %s", c.State.Status, c.State.ExitCode, c.State.Error))
	}
	return nil
}

func (d daemon) containers(ctx context.Context, o engine.Order, a *engine.Answer) error {
	found, err := d.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: labelled(o.Labels)})
	if err != nil {
		return err
	}
	for _, c := range found.Items {
		a.Containers = append(a.Containers, engine.Container{ID: c.ID, Image: c.ImageID, Labels: c.Labels, Running: c.State == container.StateRunning})
	}
	return nil
}

func (d daemon) restart(ctx context.Context, o engine.Order, a *engine.Answer) error {
	now := 0
	if _, err := d.ContainerRestart(ctx, o.Name, client.ContainerRestartOptions{Timeout: &now}); err != nil {
		return err
	}
	return d.container(ctx, o, a)
}

func (d daemon) stop(ctx context.Context, o engine.Order, _ *engine.Answer) error {
	now := 0
	_, err := d.ContainerStop(ctx, o.Name, client.ContainerStopOptions{Timeout: &now})
	return err
}

func (d daemon) remove(ctx context.Context, o engine.Order, _ *engine.Answer) error {
	_, err := d.ContainerRemove(ctx, o.Name, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if errdefs.IsConflict(err) && strings.Contains(err.Error(), "already in progress") {
		wait := d.ContainerWait(ctx, o.Name, client.ContainerWaitOptions{Condition: container.WaitConditionRemoved})
		select {
		case err = <-wait.Error:
		case <-wait.Result:
			return nil
		}
	}
	if errdefs.IsNotFound(err) {
		return nil
	}
	return err
}

func (d daemon) changed(ctx context.Context, o engine.Order, a *engine.Answer) error {
	diff, err := d.ContainerDiff(ctx, o.Name, client.ContainerDiffOptions{})
	if err != nil {
		return err
	}
	for _, c := range diff.Changes {
		// Neither an exception, nor below one, nor a folder that leads to one.
		excepted := slices.ContainsFunc(o.Except, func(path string) bool {
			return c.Path == path || strings.HasPrefix(c.Path, path+"/") || strings.HasPrefix(path, c.Path+"/")
		})
		a.Changed = a.Changed || !excepted
	}
	return nil
}

func (d daemon) commit(ctx context.Context, o engine.Order, a *engine.Answer) error {
	made, err := d.ContainerCommit(ctx, o.Name, client.ContainerCommitOptions{Reference: o.To, Config: &container.Config{Labels: o.Labels}})
	if err != nil {
		return err
	}
	a.Image = &engine.Image{ID: made.ID}
	return nil
}

// maxLogs, in bytes, is enough for the last words of a program.
const maxLogs = 2 << 10

func (d daemon) logs(ctx context.Context, o engine.Order, a *engine.Answer) error {
	said, err := d.ContainerLogs(ctx, o.Name, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Tail: "20"})
	if err != nil {
		return err
	}
	defer func() { _ = said.Close() }()
	var text strings.Builder
	_, err = stdcopy.StdCopy(&text, &text, io.LimitReader(said, maxLogs))
	a.Logs = text.String()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return err
}
