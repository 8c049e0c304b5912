package git

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"signalbox/internal/git/gitcmd"
)

// Submodule is a folder of a commit in which git shows another repository.
type Submodule struct {
	// Name is the submodule's folder below .git/modules, Path its folder in the work tree. Neither leads
	// out of these.
	Name, Path string
	// URL is as .gitmodules has it: untrusted text.
	URL string
	// Commit is the other repository's commit, a full id.
	Commit string
}

const (
	modulesFile = ".gitmodules"
	// maxModulesFile (bytes) and maxModules are some ten times what the largest projects have.
	maxModulesFile = 1 << 20
	maxModules     = 500
)

// Submodules lists the submodules that a tree (or commit) itself names, by path. objects are folders of
// its objects, besides the repository's own. It skips an entry of .gitmodules without a folder in the
// tree, and a folder without an entry: git can initialize neither. A name or path that leads elsewhere
// is ErrInvalid. It fetches nothing, and starts no process for a repository without submodules.
func (r *Repo) Submodules(ctx context.Context, tree string, objects ...string) (found []Submodule, err error) {
	if err := checkIDs(tree); err != nil {
		return nil, fmt.Errorf("list submodules: %w", err)
	}
	if len(objects) == 0 {
		if o, err := r.info(ctx, tree+":"+modulesFile); err == nil && o.Type == "" {
			// In a partial clone, the file may exist without its content.
			if remote, err := r.Promisor(ctx); err != nil || remote == "" {
				return nil, err
			}
		}
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("list submodules of %s: %w", tree, err)
		}
	}()
	out, err := r.git.Run(ctx, reading(objects, "ls-tree", "-l", "-z", "--full-tree", tree, "--", modulesFile))
	if err != nil {
		return nil, err
	}
	files, err := parseTree(string(out))
	if err != nil || len(files) == 0 { // none, or a link, which git doesn't read either
		return nil, err
	}
	if files[0].Size > maxModulesFile {
		return nil, fmt.Errorf("%w %s: it has %d bytes", ErrInvalid, modulesFile, files[0].Size)
	}
	out, err = r.git.Run(ctx, reading(objects, "config", "--blob="+tree+":"+modulesFile, "--no-includes", "-z", "--get-regexp", `^submodule\.`))
	if gitcmd.Exited(err, 1) { // nothing matches
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	named := parseModules(string(out))
	if len(named) > maxModules {
		return nil, fmt.Errorf("%w %s: it names %d submodules, more than %d", ErrInvalid, modulesFile, len(named), maxModules)
	}
	return r.gitlinked(ctx, tree, objects, named)
}

// parseModules reads "submodule.<name>.<variable> LF value NUL" records. The last of two values counts.
func parseModules(out string) (named []Submodule) {
	for record := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		key, value, _ := strings.Cut(record, "\n")
		key = strings.TrimPrefix(key, "submodule.")
		end := strings.LastIndexByte(key, '.')
		if end < 0 {
			continue
		}
		name, variable := key[:end], key[end+1:]
		i := slices.IndexFunc(named, func(s Submodule) bool { return s.Name == name })
		if i < 0 {
			i, named = len(named), append(named, Submodule{Name: name})
		}
		switch variable {
		case "path":
			named[i].Path = value
		case "url":
			named[i].URL = value
		}
	}
	return named
}

// gitlinked returns the submodules that have a folder in the tree.
func (r *Repo) gitlinked(ctx context.Context, tree string, objects []string, named []Submodule) (found []Submodule, err error) {
	named = slices.DeleteFunc(named, func(s Submodule) bool { return s.Path == "" })
	args := []string{"ls-tree", "-z", "--full-tree", tree, "--"}
	for _, s := range named {
		if err := s.check(); err != nil {
			return nil, err
		}
		args = append(args, s.Path)
	}
	if len(named) == 0 {
		return nil, nil
	}
	out, err := r.git.Run(ctx, reading(objects, args...))
	if err != nil {
		return nil, err
	}
	for record := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		entry, path, _ := strings.Cut(record, "\t")
		fields := strings.Fields(entry) // mode SP "commit" SP id
		if len(fields) != 3 || fields[0] != Gitlink {
			continue
		}
		i := slices.IndexFunc(named, func(s Submodule) bool { return s.Path == path })
		if i < 0 || !ValidID(fields[2]) || len(fields[2]) != len(tree) {
			return nil, fmt.Errorf("%w %s: submodule %q", ErrInvalid, modulesFile, gitcmd.Clean(path))
		}
		s := named[i]
		s.Commit = fields[2]
		found = append(found, s)
	}
	return found, nil
}

// check refuses a name or a path that leads out of its own folder, or that a program could take for an
// option. It is stricter than git, which has had holes here.
func (s Submodule) check() error {
	for _, value := range []string{s.Name, s.Path} {
		parts := strings.FieldsFunc(value, func(c rune) bool { return c == '/' || c == '\\' })
		if !fs.ValidPath(value) || value == "." || value[0] == '-' || !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl) ||
			slices.Contains(parts, "..") || slices.ContainsFunc(parts, isGitFolder) {
			return fmt.Errorf("%w %s: the submodule %q at %q leads out of its folder", ErrInvalid, modulesFile, gitcmd.Clean(s.Name), gitcmd.Clean(s.Path))
		}
	}
	return nil
}

// isGitFolder reports whether some file system takes the name for .git.
func isGitFolder(name string) bool {
	name = strings.TrimRight(strings.ToLower(strings.Map(func(c rune) rune {
		if unicode.Is(unicode.Cf, c) {
			return -1
		}
		return c
	}, name)), " .")
	return name == ".git" || name == "git~1" || strings.HasPrefix(name, ".git:")
}
