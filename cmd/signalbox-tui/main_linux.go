// Command signalbox-tui shows a project's runs in a terminal and takes a person's decisions. "signalbox tui" becomes it; people don't
// start it. It is a program of its own because what it needs would slow every start of signalbox.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"signalbox/internal/app"
	"signalbox/internal/app/background"
	"signalbox/internal/cli/command"
	"signalbox/internal/language"
	"signalbox/internal/process"
	"signalbox/internal/tui"
)

func main() {
	if err := process.DropInherited(); err != nil {
		fmt.Fprintln(os.Stderr, "error: drop the files and limits inherited from the caller:", err)
		os.Exit(1)
	}
	a := command.NewInvocation(command.System())
	// What would be printed in the midst of the screen is left out, and no question is asked there: an order that needs an answer says so.
	a.Opener.Log, a.Opener.AskTrust = slog.New(slog.DiscardHandler), nil
	a.Opener.Warn, a.Opener.Mended = func(string, ...any) {}, func(string, []string) {}
	self, err := os.Executable()
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGHUP)
		defer stop()
		program := filepath.Join(filepath.Dir(self), "signalbox")
		open := func(ctx context.Context) (context.Context, *app.App, func(), error) {
			return command.OpenForCall(ctx, a.Opener)
		}
		err = tui.Run(ctx, tui.Config{Open: open, Starter: background.Starter{Program: program}, Program: program, Env: os.Environ(), Language: locale(), Now: a.Opener.Now}, os.Stdin, os.Stdout)
	}
	if err != nil {
		a.ShowError(err)
		os.Exit(1)
	}
}

// locale is the language of the terminal's messages.
func locale() language.Language {
	word, _, _ := strings.Cut(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_MESSAGES"), os.Getenv("LANG")), "_")
	return language.Language(word)
}
