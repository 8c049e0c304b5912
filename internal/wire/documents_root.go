package wire

import (
	"context"
	"path/filepath"
	"sync"

	"signalbox/internal/config"
	"signalbox/internal/forge/local"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/wire/folder"
)

// OpenStore opens the documents around the working directory to change them. It needs no git repository and starts no program.
func (a *Opener) OpenStore(ctx context.Context) (*store.Store, error) {
	root, gitDir, err := folder.Root(a.Dir)
	if err != nil {
		return nil, err
	}
	if gitDir != "" {
		if err := hide(gitDir); err != nil {
			return nil, err
		}
	}
	s, err := store.Open(ctx, store.Config{Root: root, Redact: a.LateRedactor(root), Fixed: a.Mended, Logger: a.Log})
	return s, Explained(err)
}

// OpenStoreToRead opens the documents around the working directory without changing them.
func (a *Opener) OpenStoreToRead(ctx context.Context) (*store.Store, error) {
	root, _, err := folder.Root(a.Dir)
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, store.Config{Root: root, ReadOnly: true, Fixed: a.Mended, Logger: a.Log})
	return s, Explained(err)
}

// OpenStoreToChange opens the store to change it, or only to read it, as in a dry run.
func (a *Opener) OpenStoreToChange(ctx context.Context, readOnly bool) (*store.Store, error) {
	if readOnly {
		return a.OpenStoreToRead(ctx)
	}
	return a.OpenStore(ctx)
}

// LateRedactor masks secrets. It reads the configuration, which names some of them, only when something is written. If the
// configuration can't be read, it names none.
func (a *Opener) LateRedactor(root string) func(string) string {
	redactor := sync.OnceValue(func() *redact.Redactor {
		c, _, err := config.Load(filepath.Join(root, config.Name), a.Env)
		if err != nil {
			a.Log.Warn("the secrets that the configuration names are not known", "error", err)
		}
		return redact.New((&Project{Config: c}).Secrets())
	})
	return func(text string) string { return redactor().String(text) }
}

// Redactor knows the secrets among the user's variables, and those that the project's configuration names if it can be read.
func (a *Opener) Redactor() *redact.Redactor {
	root, _, err := folder.Root(a.Dir)
	c := config.Default()
	if err == nil {
		if configured, _, err := config.Load(filepath.Join(root, config.Name), a.Env); err == nil {
			c = configured
		}
	}
	return redact.New((&Project{Opener: a, Config: c}).Secrets())
}

// LocalForge knows the pull requests of documents, even outside of a project.
func LocalForge(s *store.Store) (*local.Forge, error) {
	root, err := s.Abs(".")
	return local.New(local.Config{Store: s, Root: root}), err
}
