// Package docker owns what Signalbox asks of Docker: each order of package
// engine as calls of Docker's own client. It refuses to decide anything.
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

// maxOrder bounds what is read: orders are a few kilobytes.
const maxOrder = 1 << 20

// Main reads one order and writes its answer. It returns the exit code, which is 0 when there
// is an answer, whatever it says.
func Main(ctx context.Context, in io.Reader, out, errout io.Writer) int {
	var o engine.Order
	err := json.NewDecoder(io.LimitReader(in, maxOrder)).Decode(&o)
	if err == nil {
		err = json.NewEncoder(out).Encode(answer(ctx, o))
	}
	if err != nil {
		_, _ = fmt.Fprintf(errout, "%s: %v\n", engine.Name, err)
		return 1
	}
	return 0
}

func answer(ctx context.Context, o engine.Order) engine.Answer {
	a, err := do(ctx, o)
	fault := engine.FaultOther
	switch {
	case err == nil:
		return a
	case errdefs.IsNotFound(err):
		fault = engine.FaultNotFound
	case errdefs.IsConflict(err) || errdefs.IsAlreadyExists(err):
		fault = engine.FaultConflict
	case client.IsErrConnectionFailed(err) || errors.Is(err, os.ErrPermission) || errors.Is(err, errRemote):
		fault = engine.FaultNoDaemon
	}
	return engine.Answer{Fault: fault, Message: err.Error()}
}

// errRemote: the daemon is on another machine, which does not have the folders to be shown.
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

// labelled returns a filter for what has all of labels.
func labelled(labels map[string]string) client.Filters {
	f := client.Filters{}
	for name, value := range labels {
		f = f.Add("label", name+"="+value)
	}
	return f
}
