package detect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// look reads the next file.
func (s *survey) look(ctx context.Context) error {
	c := s.found[s.next]
	s.next++
	f := File{Path: c.name, Kind: c.kind, Environment: c.environment, Lock: c.lock, Manifest: c.manifest}
	text, err := s.digest(ctx, &f)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted since it was listed
	}
	if err == nil && c.parse != nil {
		switch {
		case len(text) > maxParsed && !c.lines:
			err = fmt.Errorf("larger than %d KiB: not parsed", maxParsed>>10)
		case len(text) > maxParsed:
			text = text[:maxParsed]
			f.Problem = fmt.Sprintf("larger than %d KiB: only the beginning is parsed", maxParsed>>10)
			fallthrough
		default:
			err = c.parse(s, &f, []byte(strings.TrimPrefix(string(text), "\ufeff")))
		}
	}
	switch {
	case err != nil:
		f.Problem = short(err.Error())
	case f.Manifest:
		s.module(f.Path).manifests[f.Kind] = f.Path
	}
	if f.Problem != "" {
		s.note("%s: %s", f.Path, f.Problem)
	}
	if !c.unlisted {
		s.result.Files = append(s.result.Files, f)
	}
	return nil
}

// digest reads a file, records its digest and content, and returns the beginning, for parsing.
func (s *survey) digest(ctx context.Context, f *File) ([]byte, error) {
	if s.read >= maxRead {
		return nil, fmt.Errorf("not read: the files before it have %d MiB", maxRead>>20)
	}
	text, err := s.files.Read(ctx, f.Path, maxDigested+1)
	if err != nil {
		return nil, err
	}
	s.read += int64(len(text))
	if len(text) > maxDigested {
		text = text[:maxDigested]
		f.Problem = fmt.Sprintf("larger than %d MiB: its digest is of the beginning", maxDigested>>20)
	}
	sum := sha256.Sum256(text)
	f.SHA256 = hex.EncodeToString(sum[:])
	f.Content = strings.ToValidUTF8(string(text[:min(len(text), maxContent)]), "")
	if len(text) > maxContent {
		f.Content += fmt.Sprintf("\n… (cut here: only the first %d KiB are shown)\n", maxContent>>10)
	}
	return text[:min(len(text), maxParsed+1)], nil
}

// digestScripts reads the files that the setup's commands start, so that Locks includes them.
func (s *survey) digestScripts(ctx context.Context) error {
	i := slices.IndexFunc(s.result.Descriptions, func(d Description) bool { return d.Path == s.result.SetUpSource })
	if i < 0 {
		return nil
	}
	d := s.result.Descriptions[i]
	for _, name := range s.scripts(strings.Join(d.Commands, "\n") + "\n" + d.recipe) {
		if !s.known[name] {
			s.known[name] = true
			s.found = append(s.found, candidate{name, format{kind: script}})
		}
	}
	for s.next < len(s.found) {
		if err := s.look(ctx); err != nil {
			return err
		}
	}
	return nil
}
