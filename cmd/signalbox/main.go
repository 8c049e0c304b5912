// Command signalbox carries an issue to a merged change by driving coding agents.
package main

import (
	"context"
	"os"
	"path/filepath"

	"signalbox/internal/cli"
	"signalbox/internal/environment/egress"
	"signalbox/internal/environment/execserver"
	"signalbox/internal/session"
)

func main() {
	switch filepath.Base(os.Args[0]) {
	case execserver.Name:
		os.Exit(execserver.Main(context.Background(), os.Args[1:]))
	case egress.EnterName:
		egress.Enter(context.Background(), os.Args[1:])
	case session.HostName:
		os.Exit(session.Host(context.Background(), os.Args[1:], cli.SessionHost()))
	}
	os.Exit(cli.Main(context.Background(), os.Args[1:], cli.System()))
}
