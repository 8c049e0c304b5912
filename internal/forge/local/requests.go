package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"signalbox/internal/forge"
	"signalbox/internal/lazy"
)

const requestsFolder = "requests"

// RequestError is an error in one request file. It does not affect the others.
type RequestError struct {
	// Path is relative to the project root.
	Path string
	Err  error
}

func (e *RequestError) Error() string { return clean(e.Path) + ": " + e.Err.Error() }
func (e *RequestError) Unwrap() error { return e.Err }

// ErrDouble: another file claims the same id or number.
var ErrDouble = errors.New("is also claimed")

// absentError names a missing request.
type absentError string

func (e absentError) Error() string      { return fmt.Sprintf("there is no request %q", string(e)) }
func (absentError) Is(target error) bool { return target == forge.ErrNotFound }

// Requests returns all requests, sorted by number. Beside the list, it returns the unreadable files as
// joined RequestErrors.
func (f *Forge) Requests(ctx context.Context) ([]forge.Request, error) {
	requests, broken, err := f.readRequests()
	if err != nil {
		return nil, err
	}
	for i := range requests {
		if requests[i].Closed, err = f.closed(ctx, requests[i]); err != nil {
			broken = append(broken, &RequestError{requests[i].Path, err})
		}
	}
	return requests, errors.Join(broken...)
}

// Request returns the request with this id, number ("7" or "#7") or path. Another broken file matters
// only if ref may mean it.
func (f *Forge) Request(ctx context.Context, ref string) (forge.Request, error) {
	found, err := f.Find(ctx, ref)
	if err != nil {
		return forge.Request{}, err
	}
	return found[0], nil
}

// Find returns several requests, and reads the folder once.
func (f *Forge) Find(ctx context.Context, refs ...string) ([]forge.Request, error) {
	requests, broken, err := f.readRequests()
	if err != nil {
		return nil, err
	}
	known := map[string]*forge.Request{}
	for i, r := range requests {
		known[r.ID], known[strconv.Itoa(r.Number)], known[r.Path] = &requests[i], &requests[i], &requests[i]
	}
	found := make([]forge.Request, 0, len(refs))
	for _, ref := range refs {
		name := strings.TrimPrefix(ref, "#")
		if !idPattern().MatchString(ref) && !numberPattern().MatchString(name) {
			// A path is only compared, never opened, so it can't lead outside.
			if name = ref; filepath.IsAbs(ref) {
				name, _ = filepath.Rel(f.root, ref)
			}
			name = filepath.ToSlash(filepath.Clean(name))
		}
		request := known[name]
		if request == nil {
			for _, err := range broken {
				if problem := (*RequestError)(nil); errors.As(err, &problem) && problem.Path == name {
					return nil, err
				}
			}
			return nil, f.absent(ref, broken)
		}
		if request.Closed, err = f.closed(ctx, *request); err != nil {
			return nil, err
		}
		found = append(found, *request)
	}
	return found, nil
}

// absent is the error for a request that no readable file has. A file that can't be read may be the one that is meant: its name or its
// text says so, or it may not even be looked at.
func (f *Forge) absent(ref string, broken []error) error {
	name := strings.TrimPrefix(ref, "#")
	for _, err := range broken {
		problem := (*RequestError)(nil)
		if !errors.As(err, &problem) {
			continue
		}
		if errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("%w, among those that can be read: %w", absentError(ref), errors.Join(broken...))
		}
		if f.claims(problem.Path, name) && errors.Is(err, ErrDouble) {
			return err
		}
		if f.claims(problem.Path, name) {
			return fmt.Errorf("request %q can't be read: %w", ref, err)
		}
	}
	return errors.Join(absentError(ref), errors.Join(broken...))
}

// claimed finds what a file says about its id and its number, even if it's no front matter.
var claimed = lazy.Pattern(`(?m)^(?:number|id):[ \t]*["']?(\S+?)["']?[ \t]*(?:#.*)?$`)

// claims reports whether a file that can't be read is that of a request with this number or id.
func (f *Forge) claims(path, name string) bool {
	if stem := strings.TrimSuffix(strings.TrimPrefix(path, requestsFolder+"/"), ".md"); strings.EqualFold(stem, name) || strings.HasPrefix(strings.TrimLeft(stem, "0"), name+"-") {
		return true
	}
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	file, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not make us wait
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return false
	}
	text, _ := io.ReadAll(io.LimitReader(file, maxRequestBytes)) // what was read may say enough
	return slices.ContainsFunc(claimed().FindAllSubmatch(text, 2), func(found [][]byte) bool { return string(found[1]) == name })
}

// readRequests returns the valid files by number, and an error for each invalid one.
func (f *Forge) readRequests() (requests []forge.Request, broken []error, err error) {
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return nil, nil, fmt.Errorf("open the project: %w", err)
	}
	defer func() { _ = root.Close() }()
	folder, err := root.OpenRoot(requestsFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open the requests: %w", err)
	}
	defer func() { _ = folder.Close() }()
	entries, err := fs.ReadDir(folder.FS(), ".")
	if err != nil {
		return nil, nil, fmt.Errorf("list the requests: %w", err)
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".md") || strings.HasPrefix(entry.Name(), ".") {
			continue // not a request, or an editor's hidden file
		}
		path := requestsFolder + "/" + entry.Name()
		request, err := f.read.request(folder, entry.Name(), f.now())
		if err != nil && strings.EqualFold(entry.Name(), "README.md") {
			continue // a folder's README that isn't a request
		}
		if err != nil {
			broken = append(broken, &RequestError{path, err})
			continue
		}
		request.Path = path
		requests = append(requests, request)
	}
	requests, doubles := withoutDoubles(requests)
	return requests, append(broken, doubles...), nil
}

// withoutDoubles sorts by number and removes all files that claim the same id or number: a guess could
// run the wrong request.
func withoutDoubles(requests []forge.Request) (single []forge.Request, doubles []error) {
	slices.SortFunc(requests, func(a, b forge.Request) int { return a.Number - b.Number })
	byID, byNumber := map[string][]string{}, map[int][]string{}
	for _, r := range requests {
		byID[r.ID], byNumber[r.Number] = append(byID[r.ID], r.Path), append(byNumber[r.Number], r.Path)
	}
	for _, r := range requests {
		what, other := "", ""
		another := func(claim string, by []string) {
			if i := slices.IndexFunc(by, func(path string) bool { return path != r.Path }); i >= 0 && other == "" {
				what, other = claim, by[i]
			}
		}
		another(fmt.Sprintf("number %d", r.Number), byNumber[r.Number])
		another("id "+r.ID, byID[r.ID])
		if other == "" {
			single = append(single, r)
			continue
		}
		doubles = append(doubles, &RequestError{r.Path, fmt.Errorf("%s %w by %s", what, ErrDouble, clean(other))})
	}
	return single, doubles
}
