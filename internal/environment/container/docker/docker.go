// Package docker performs the orders of package engine by calls of Docker's own client. It decides nothing.
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

// maxOrder is the largest order, in bytes. Orders are a few kilobytes.
const maxOrder = 1 << 20

// Main reads one order and writes its answer. It returns the exit code, which is 0 if there is an answer, even
// one that reports an error.
func Main(ctx context.Context, in io.Reader, out, errout io.Writer) int {
	var o engine.Order
	err := json.NewDecoder(io.LimitReader(in, maxOrder)).Decode(&o)
	if err == nil {
		a, failed := do(ctx, o)
		if failed != nil {
			a = engine.Answer{Fault: engine.FaultOther, Message: failed.Error()}
		}
		switch {
		case failed == nil:
		case errdefs.IsNotFound(failed):
			a.Fault = engine.FaultNotFound
		case errdefs.IsConflict(failed) || errdefs.IsAlreadyExists(failed):
			a.Fault = engine.FaultConflict
		case client.IsErrConnectionFailed(failed) || errors.Is(failed, os.ErrPermission) || errors.Is(failed, errRemote):
			a.Fault = engine.FaultNoDaemon
		}
		err = json.NewEncoder(out).Encode(a)
	}
	if err != nil {
		_, _ = fmt.Fprintf(errout, "%s: %v\n", engine.Name, err)
		return 1
	}
	return 0
}

// errRemote: the daemon is on another machine, which lacks the folders to show.
var errRemote = errors.New("DOCKER_HOST names another machine; want unix:///path/to/docker.sock")

type daemon struct{ *client.Client }

func do(ctx context.Context, o engine.Order) (a engine.Answer, err error) {
	if host := os.Getenv(client.EnvOverrideHost); host != "" && !strings.HasPrefix(host, "unix://") {
		return a, errRemote
	}
	c, err := client.New(client.FromEnv)
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	d := daemon{c}
	perform := map[engine.Op]func(context.Context, engine.Order, *engine.Answer) error{
		engine.OpVersion:     d.version,
		engine.OpImage:       d.image,
		engine.OpImages:      d.images,
		engine.OpBuild:       d.build,
		engine.OpTag:         d.tag,
		engine.OpRemoveImage: d.removeImage,
		engine.OpContainer:   d.container,
		engine.OpContainers:  d.containers,
		engine.OpCreate:      d.create,
		engine.OpRestart:     d.restart,
		engine.OpStop:        d.stop,
		engine.OpRemove:      d.remove,
		engine.OpChanged:     d.changed,
		engine.OpCommit:      d.commit,
		engine.OpLogs:        d.logs,
	}[o.Op]
	if perform == nil {
		return a, fmt.Errorf("unknown order %q", o.Op)
	}
	err = perform(ctx, o, &a)
	return a, err
}

func (d daemon) version(ctx context.Context, _ engine.Order, a *engine.Answer) error {
	v, err := d.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return err
	}
	a.Version = &engine.Version{Server: v.Version, API: d.ClientVersion()}
	return nil
}

// labelled returns a filter for objects with all of labels.
func labelled(labels map[string]string) client.Filters {
	f := client.Filters{}
	for name, value := range labels {
		f = f.Add("label", name+"="+value)
	}
	return f
}
