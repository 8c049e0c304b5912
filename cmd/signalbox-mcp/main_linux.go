// Command signalbox-mcp lets an agent use Signalbox, by the Model Context Protocol on standard input and output. "signalbox mcp"
// becomes it; people don't start it. It is a program of its own because what it needs would slow every start of signalbox.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"signalbox/internal/access"
	"signalbox/internal/app"
	"signalbox/internal/app/background"
	"signalbox/internal/cli/command"
	"signalbox/internal/mcp"
	"signalbox/internal/process"
)

func main() {
	if err := process.DropInherited(); err != nil {
		fmt.Fprintln(os.Stderr, "error: drop the files and limits inherited from the caller:", err)
		os.Exit(1)
	}
	approve := flag.Bool("approve", false, "let the client approve changes, and allow what agents ask permission for")
	environments := flag.Bool("environments", false, "offer the tools for environments that other programs make")
	version := flag.String("version", "(unknown)", "the version that the client is told")
	flag.Parse()
	a := command.NewInvocation(command.System())
	a.Opener.Log = slog.New(slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	a.Opener.AskTrust = nil // no person is at the other end
	role := access.Operator
	if *approve {
		role = access.Approver
	}
	self, err := os.Executable()
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		defer stop()
		open := func(ctx context.Context) (context.Context, *app.App, func(), error) {
			return command.OpenForCall(ctx, a.Opener)
		}
		err = mcp.Serve(ctx, mcp.Config{Open: open, Starter: background.Starter{Program: filepath.Join(filepath.Dir(self), "signalbox")},
			Role: role, Environments: *environments, Version: *version, Logger: a.Opener.Log}, io.NopCloser(a.Bare.In), unclosed{a.Bare.Out})
	}
	if err != nil {
		a.ShowError(err)
		os.Exit(1)
	}
}

// unclosed is standard output, which others may still write to.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
