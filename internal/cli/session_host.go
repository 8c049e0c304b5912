package cli

import (
	"io"
	"log/slog"
	"os"
	"strings"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/session"
)

// SessionHost is what the process that hosts a session needs of this package.
func SessionHost() session.HostConfig {
	return app.SessionHost(func(dir string) *app.Opener {
		a := command.NewInvocation(command.Streams{In: strings.NewReader(""), Out: io.Discard, Err: os.Stderr, Env: os.Getenv, Dir: dir})
		a.Opener.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
		return a.Opener
	})
}
