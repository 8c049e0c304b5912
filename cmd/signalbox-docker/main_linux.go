// Command signalbox-docker performs one order on Docker. signalbox runs it for its container driver; people don't.
package main

import (
	"context"
	"os"

	"signalbox/internal/environment/container/docker"
)

func main() {
	os.Exit(docker.Main(context.Background(), os.Stdin, os.Stdout, os.Stderr))
}
