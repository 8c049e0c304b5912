package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"signalbox/internal/process"
	"signalbox/internal/store"
	"signalbox/internal/store/strict"
	"signalbox/internal/workflow"
)

// Records puts the forge's records about the run where its driver looks for them.
func (b *Bundle) Records(ctx context.Context, s *store.Store) error {
	for _, f := range b.files {
		at := recordPath.Regexp().FindStringSubmatch(f.Path)
		if at == nil {
			continue
		}
		content, err := strict.Decode[record](f.Content, "")
		if err == nil {
			err = store.Record[record](s, at[1], at[2]).Update(ctx, func(r *record) error {
				if theirs := r.Unknown["key"]; theirs != nil && string(theirs) != string(content.Unknown["key"]) {
					return fmt.Errorf("number %s belongs to another run's change here", at[2])
				}
				*r = content
				return nil
			})
		}
		if err != nil {
			return fmt.Errorf("restore %s: %w", f.Path, err)
		}
	}
	return nil
}

// Place makes the bundle the run's folder below root, whole or not at all. What only the folder there has (transcripts, and logs that
// were cut) stays. The caller holds the request's lock.
func (b *Bundle) Place(root string) (err error) {
	project, err := os.OpenRoot(root)
	if err != nil {
		return fmt.Errorf("open the project: %w", err)
	}
	defer func() { err = errors.Join(err, project.Close()) }()
	self, err := process.Current()
	if err != nil {
		return err
	}
	dir := store.RunDir(workflow.RefOf(&b.Run))
	p := placing{Bundle: b, project: project, parent: path.Dir(dir), id: path.Base(dir), temp: fmt.Sprintf(".tmp-%d-%d-0-%s", self.PID, self.Start, path.Base(dir))}
	if err := p.place(); err != nil {
		return errors.Join(fmt.Errorf("restore %s: %w", dir, err), p.sweep())
	}
	return p.sweep()
}

// placing is one call of Place. temp is named as the Store names what it sweeps.
type placing struct {
	*Bundle
	project          *os.Root
	parent, id, temp string
}

func (p placing) place() error {
	if err := errors.Join(p.project.MkdirAll(p.parent, 0o755), p.sweep(), p.project.Mkdir(p.at(""), 0o755)); err != nil {
		return err
	}
	for name, perm := range map[string]fs.FileMode{"logs": 0o700, "patches": 0o755} {
		if err := p.project.Mkdir(p.at(name), perm); err != nil {
			return err
		}
	}
	for _, f := range p.files {
		name, ofRun := strings.CutPrefix(f.Path, runFolder)
		if !ofRun {
			continue
		}
		if err := p.write(name, f.Content); err != nil {
			return err
		}
	}
	if err := errors.Join(p.keep("."), p.keep("logs")); err != nil {
		return err
	}
	return errors.Join(p.sync("logs"), p.sync("patches"), p.sync(""), p.swap())
}

func (p placing) at(name string) string { return path.Join(p.parent, p.temp, name) }

// write makes a file that nothing else has a name for yet.
func (p placing) write(name string, content []byte) error {
	perm := fs.FileMode(0o644)
	if strings.HasPrefix(name, "logs/") {
		perm = 0o600
	}
	file, err := p.project.OpenFile(p.at(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

// keep gives the files of a folder that the bundle lacks, or has only the end of, a second name in the new one.
func (p placing) keep(folder string) error {
	old := path.Join(p.parent, p.id, folder)
	dir, err := p.project.Open(old)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := dir.ReadDir(-1)
	if err := errors.Join(err, dir.Close()); err != nil {
		return err
	}
	for _, entry := range entries {
		log := folder == "logs" && strings.Contains(entry.Name(), ".log")
		if !entry.Type().IsRegular() || !log && entry.Name() != ".lock" {
			continue
		}
		to := p.at(path.Join(folder, entry.Name()))
		if was, err := p.project.Stat(to); err == nil {
			if info, err := entry.Info(); err != nil || info.Size() < was.Size() {
				continue
			}
			if err := p.project.Remove(to); err != nil {
				return err
			}
		}
		if err := p.project.Link(path.Join(old, entry.Name()), to); err != nil {
			return err
		}
	}
	return nil
}

func (p placing) sync(name string) error {
	dir, err := p.project.Open(p.at(name))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// swap is the instant from which the run is the bundle's.
func (p placing) swap() error {
	parent, err := p.project.Open(p.parent)
	if err != nil {
		return err
	}
	fd := int(parent.Fd())
	err = unix.Renameat2(fd, p.temp, fd, p.id, unix.RENAME_EXCHANGE)
	if errors.Is(err, fs.ErrNotExist) {
		err = unix.Renameat2(fd, p.temp, fd, p.id, unix.RENAME_NOREPLACE)
	}
	return errors.Join(err, parent.Sync(), parent.Close())
}

// sweep removes what this call, or one that was killed, left beside the run.
func (p placing) sweep() error {
	parent, err := p.project.Open(p.parent)
	if err != nil {
		return err
	}
	entries, err := parent.ReadDir(-1)
	err = errors.Join(err, parent.Close())
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".tmp-") && strings.HasSuffix(entry.Name(), "-"+p.id) {
			err = errors.Join(err, p.project.RemoveAll(path.Join(p.parent, entry.Name())))
		}
	}
	return err
}
