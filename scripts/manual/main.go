// Command manual writes the manual pages and the shell completions of signalbox into the folder that it is given.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"signalbox/internal/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manual FOLDER")
		os.Exit(2)
	}
	if err := write(cli.Commands(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func write(root *cobra.Command, dir string) error {
	man, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	if err := errors.Join(os.MkdirAll(man, 0o755), os.MkdirAll(completions, 0o755)); err != nil {
		return err
	}
	root.DisableAutoGenTag = true
	// A fixed date: the same commands give the same pages.
	header := &doc.GenManHeader{Section: "1", Source: "Signalbox", Manual: "Signalbox", Date: &time.Time{}}
	if err := doc.GenManTree(root, header, man); err != nil {
		return fmt.Errorf("write manual pages: %w", err)
	}
	return errors.Join(root.GenBashCompletionFileV2(filepath.Join(completions, "signalbox.bash"), true),
		root.GenZshCompletionFile(filepath.Join(completions, "_signalbox")),
		root.GenFishCompletionFile(filepath.Join(completions, "signalbox.fish"), true))
}
