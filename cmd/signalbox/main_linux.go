// Command signalbox carries an issue to a merged change by driving coding agents.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"signalbox/internal/cli"
	"signalbox/internal/cli/command"
	"signalbox/internal/environment/egress"
	"signalbox/internal/environment/execserver"
	"signalbox/internal/process"
	"signalbox/internal/session"
)

func main() {
	name := filepath.Base(os.Args[0])
	if name == egress.EnterName {
		egress.Enter(context.Background(), os.Args[1:]) // becomes a program with only the open files named for it
	}
	if err := process.DropInherited(); err != nil {
		fmt.Fprintln(os.Stderr, "error: drop the files and limits inherited from the caller:", err)
		os.Exit(1)
	}
	switch name {
	case execserver.Name:
		os.Exit(execserver.Main(context.Background(), os.Args[1:]))
	case session.HostName:
		os.Exit(session.Host(context.Background(), os.Args[1:], cli.SessionHost()))
	}
	os.Exit(cli.Main(context.Background(), os.Args[1:], command.System()))
}
