// Package forge holds "signalbox forge": taking orders from the forge, and what it was asked.
package forge

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/app/intake"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/commandline"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// New returns the command.
func New(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{Use: "forge"}
	c.AddCommand(newWatch(a), newLimits(a))
	return c
}

// The shortest time between two looks, and the usual one.
const (
	leastEvery = time.Second
	usualEvery = time.Minute
)

func newWatch(a *command.Invocation) *cobra.Command {
	var once bool
	var every time.Duration
	var listen string
	c := &cobra.Command{
		Use: "watch", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if every < leastEvery {
				return command.UsageError("want at least "+leastEvery.String(), "--every is %s", every)
			}
			return watch(c.Context(), a, once, every, listen)
		},
	}
	command.AddRunFlags(a, c)
	c.Flags().BoolVar(&once, "once", false, "look once, and run what was ordered to its end")
	c.Flags().DurationVar(&every, "every", usualEvery, "how often to look for what no webhook told")
	c.Flags().StringVar(&listen, "listen", "", "take webhooks at http://ADDRESS/webhook, such as 127.0.0.1:8787")
	c.MarkFlagsMutuallyExclusive("once", "listen")
	return c
}

func watch(ctx context.Context, a *command.Invocation, once bool, every time.Duration, listen string) error {
	p, err := a.OpenTrusted(ctx)
	if err != nil {
		return err
	}
	config, err := intake.Of(p.App)
	if err != nil {
		return err
	}
	d := &door{Project: p, shown: map[string]string{}}
	w := &intake.Watcher{Intake: intake.New(config), Every: every, After: time.After, Run: d.run, Tell: d.tell, Failed: d.ShowError}
	if listen != "" {
		if err := p.Hosted.TakesWebhooks(); err != nil {
			return err
		}
		w.Wakes = intake.NewWakes()
		stop, err := d.listen(ctx, listen, w.Wakes)
		if err != nil {
			return err
		}
		defer stop()
	}
	return w.Watch(ctx, once)
}

// door shows what a watcher does.
type door struct {
	*command.Project
	mu    sync.Mutex
	shown map[string]string
}

// run runs the run of an issue, and shows how it goes on, one line for each of its steps.
func (d *door) run(ctx context.Context, ref string) error {
	done, err := d.StartRuns(ctx, []string{ref}, func(*app.App) func(workflow.Run) { return d.observe })
	if err == nil && len(done) > 0 {
		err = done[0].Err
	}
	return err
}

func (d *door) observe(run workflow.Run) {
	line := fmt.Sprintf("#%s %s: %s", run.Ref(), display.Label(d.Invocation, run.State), redact.Line(commandline.Doing(&run), 200))
	d.mu.Lock()
	defer d.mu.Unlock()
	key := fmt.Sprint(run.State, run.Details.Phase)
	if d.shown[run.RunID] == key {
		return
	}
	d.shown[run.RunID] = key
	d.line(line)
}

// line prints a line with the time; not with --json, where the documents are the answer.
func (d *door) line(text string) {
	if !d.JSON {
		d.Print("%s %s\n", commandline.Clock(time.Now()), text)
	}
}

func (d *door) tell(result intake.Result) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, o := range result.Orders {
		text := fmt.Sprintf("%v: %s by %s", o.Order.On, redact.Line(string(o.Order.Verb), 20), redact.Line(o.Order.By, 60))
		if o.Refused != "" {
			text += ": refused: " + redact.Line(o.Refused, 200)
		}
		d.line(text)
	}
	for _, number := range result.Woken {
		d.line(fmt.Sprintf("#%d: there may be news; it looks", number))
	}
}

const (
	headerTimeout = 5 * time.Second
	readTimeout   = 30 * time.Second
	maxHeader     = 64 << 10
	goodbye       = 2 * time.Second
)

// listen takes webhooks until stop is called.
func (d *door) listen(ctx context.Context, address string, wakes *intake.Wakes) (stop func(), err error) {
	at, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, command.UsageError("name a free address of this machine, such as 127.0.0.1:8787", "--listen %s: %v", address, err)
	}
	server := &http.Server{Handler: intake.Handler(d.Hosted.Webhook, wakes, d.Log), ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout,
		WriteTimeout: readTimeout, MaxHeaderBytes: maxHeader, BaseContext: func(net.Listener) context.Context { return ctx }}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(at); !errors.Is(err, http.ErrServerClosed) {
			d.ShowError(err)
		}
	}()
	d.line("webhooks are taken at http://" + at.Addr().String() + "/webhook")
	return func() {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
		defer cancel()
		_ = server.Shutdown(limited)
		<-ended
	}, nil
}
