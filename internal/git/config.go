package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// setting is one line of the repository's configuration: the key as git writes it, with the name of its
// section and variable in lower case.
type setting struct{ key, value string }

// configuration is the repository's own, read once and again when its file changed.
type configuration struct {
	mu    sync.Mutex
	read  []setting
	size  int64
	mtime time.Time
}

// configured lists the settings of the repository itself, without the user's and the machine's.
func (r *Repo) configured(ctx context.Context) ([]setting, error) {
	c := r.config
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := os.Stat(filepath.Join(r.gitDir, "config"))
	if err == nil && c.size == info.Size() && c.mtime.Equal(info.ModTime()) {
		return c.read, nil
	}
	out, listErr := r.run(ctx, call{args: []string{"config", "-z", "--list"}})
	if listErr != nil {
		return nil, listErr
	}
	c.read = nil
	for record := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		key, value, _ := strings.Cut(record, "\n")
		c.read = append(c.read, setting{key, value})
	}
	if err == nil {
		c.size, c.mtime = info.Size(), info.ModTime()
	}
	return c.read, nil
}
