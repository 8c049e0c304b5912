package starter

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"signalbox/internal/problem"
)

//go:embed demo
var demoFiles embed.FS

// sharedCache lets the demonstration's commands read Go's cache on this machine. Without it, the sandbox compiles Go's library again, for most of a minute.
const sharedCache = `environment:
  read: [%[1]q]
  variables: [%[2]q, GOFLAGS, CGO_ENABLED]
`

// WriteDemo writes the demonstration's repository into a folder that is empty or doesn't exist. Its commands may read cache, Go's
// cache on this machine, unless it's empty.
func WriteDemo(dir, cache string) error {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return &problem.Error{Err: fmt.Errorf("%s is not empty", dir), Hint: "name a folder that is empty or does not exist", Code: problem.Usage}
	}
	err := fs.WalkDir(demoFiles, "demo", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := demoFiles.ReadFile(path)
		if err != nil {
			return err
		}
		to := strings.TrimSuffix(strings.TrimPrefix(path, "demo/"), ".txt")
		if to == "config.yaml" && cache != "" {
			content = fmt.Appendf(content, sharedCache, cache, "GOCACHE="+cache)
		}
		if filepath.Ext(to) == ".yaml" {
			to = filepath.Join(".signalbox", to)
		}
		to = filepath.Join(dir, to)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		return os.WriteFile(to, content, 0o666)
	})
	if err != nil {
		return fmt.Errorf("make the demonstration: %w", err)
	}
	return nil
}
