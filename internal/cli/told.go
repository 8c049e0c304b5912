package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"signalbox/internal/engine"
	"signalbox/internal/process"
)

// told is a context that ends when this process is told to. Ctrl-C is a person's stop. SIGTERM and SIGHUP
// are not: a machine shuts down, a service is restarted, a terminal is closed. A second Ctrl-C or SIGTERM
// ends the program at once; a second SIGHUP does not, as one often comes from the kernel and the shell,
// or behind SIGTERM. Who asked for SIGHUP to be ignored (nohup) is obeyed.
func told(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !process.IgnoredAtStart(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	came := make(chan os.Signal, 1)
	signal.Notify(came, signals...)
	go func() {
		select {
		case s := <-came:
			signal.Reset(os.Interrupt, syscall.SIGTERM)
			cancel(cause(s))
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(came)
		cancel(nil)
	}
}

func cause(s os.Signal) error {
	if s == os.Interrupt {
		return context.Canceled
	}
	return engine.ErrInterrupted
}
