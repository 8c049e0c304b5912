// Command signalbox-docker performs one order on Docker: it is what signalbox runs for its
// container driver, and nothing for a person to type.
package main

import (
	"context"
	"os"

	"signalbox/internal/environment/container/docker"
)

func main() {
	os.Exit(docker.Main(context.Background(), os.Stdin, os.Stdout, os.Stderr))
}
