package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// Collect makes the bundle of a run that no process executes. Transcripts stay where they are: they are large, and nothing reads them
// to go on. orders is what Orders returns elsewhere.
func Collect(ctx context.Context, s *store.Store, run workflow.Run, refs []Ref, orders []byte) (*Bundle, error) {
	b := &Bundle{Run: run, Manifest: Manifest{Version: version, Number: run.Details.Number, RequestID: run.RequestID, RunID: run.RunID, Refs: refs}}
	c := collector{store: s, bundle: b, dir: store.RunDir(workflow.RefOf(&run))}
	for _, name := range []string{"stage.json", "planning.json", "errors.json", "report.md", "events.jsonl"} {
		if err := c.add(c.dir+"/"+name, runFolder+name, MaxFile); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(c.addFolder("patches"), c.addFolder("logs"), ctx.Err()); err != nil {
		return nil, err
	}
	for _, name := range recordsOf(&run) {
		if err := c.add(store.PrivateDir+"/"+name+".json", recordFolder+name+".json", MaxFile); err != nil {
			return nil, err
		}
	}
	if len(orders) > 0 {
		c.take(ordersPath, orders)
	}
	b.wholeEvents()
	return b, b.check()
}

type collector struct {
	store  *store.Store
	bundle *Bundle
	dir    string
	total  int
}

// wholeEvents drops a last line that a crash tore.
func (b *Bundle) wholeEvents() {
	for i, f := range b.files {
		if f.Path == eventsPath {
			b.files[i].Content = f.Content[:bytes.LastIndexByte(f.Content, '\n')+1]
		}
	}
}

// add takes a file into the bundle; a missing one is no error.
func (c *collector) add(from, to string, limit int) error {
	content, size, err := c.read(from, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && size > limit {
		err = fmt.Errorf("%s has %d bytes, and %d is the limit", from, size, limit)
	}
	if err != nil {
		return fmt.Errorf("pack the run: %w", err)
	}
	c.take(to, content)
	return nil
}

func (c *collector) take(to string, content []byte) {
	c.total += len(content)
	c.bundle.files = append(c.bundle.files, File{to, content})
}

// read returns the last limit bytes of a file, and its size.
func (c *collector) read(from string, limit int) ([]byte, int, error) {
	file, err := c.store.OpenArtifact(from)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	content, err := io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-int64(limit)), int64(limit)))
	return content, int(info.Size()), err
}

// half is what logs and patches may take of a bundle together.
const half = MaxTotal / 2

// addFolder takes the files of a folder of the run: patches as they are, and the ends of logs.
func (c *collector) addFolder(name string) error {
	at, err := c.store.Abs(c.dir + "/" + name)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(at)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("pack the run: %w", err)
	}
	m := &c.bundle.Manifest
	for _, entry := range entries {
		from, to := path.Join(c.dir, name, entry.Name()), runFolder+name+"/"+entry.Name()
		limit := maxPatch
		if logPath.Regexp().MatchString(to) {
			limit = maxLog
		} else if !patchPath.Regexp().MatchString(to) {
			m.LeftOut = append(m.LeftOut, name+"/"+entry.Name())
			continue
		}
		content, size, err := c.read(from, limit)
		switch {
		case err != nil:
			return fmt.Errorf("pack the run: %w", err)
		case size > limit && limit == maxPatch, c.total+len(content) > half:
			m.LeftOut = append(m.LeftOut, name+"/"+entry.Name())
			continue
		case size > limit:
			m.Cut = append(m.Cut, name+"/"+entry.Name())
			content = slices.Concat(fmt.Appendf(nil, "… the first %d bytes of this log are where it was written\n", size-limit), afterLine(content))
		}
		c.take(to, content)
	}
	return nil
}

// afterLine drops the line that a cut begins in.
func afterLine(content []byte) []byte {
	if _, rest, found := bytes.Cut(content, []byte("\n")); found {
		return rest
	}
	return []byte(strings.ToValidUTF8(string(content), ""))
}
