// Command signalbox carries an issue to a merged change by driving coding agents.
package main

import (
	"context"
	"os"
	"path/filepath"

	"signalbox/internal/cli"
	"signalbox/internal/environment/execserver"
)

func main() {
	if filepath.Base(os.Args[0]) == execserver.Name {
		os.Exit(execserver.Main(context.Background(), os.Args[1:]))
	}
	os.Exit(cli.Main(context.Background(), os.Args[1:], cli.System()))
}
