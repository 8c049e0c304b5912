// Command signalbox carries an issue to a merged change by driving coding agents.
package main

import (
	"context"
	"os"

	"signalbox/internal/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), os.Args[1:], cli.System()))
}
