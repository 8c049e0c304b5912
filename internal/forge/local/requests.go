package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"signalbox/internal/forge"
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
			return nil, absent(ref, broken)
		}
		if request.Closed, err = f.closed(ctx, *request); err != nil {
			return nil, err
		}
		found = append(found, *request)
	}
	return found, nil
}

// absent is the error for a request that no readable file has. Those that may not be read come first: one of them may be meant.
func absent(ref string, broken []error) error {
	for _, err := range broken {
		if errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("%w, among those that can be read: %w", absentError(ref), errors.Join(broken...))
		}
	}
	return errors.Join(absentError(ref), errors.Join(broken...))
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
		claims := append(slices.Clone(byNumber[r.Number]), byID[r.ID]...)
		other := slices.IndexFunc(claims, func(path string) bool { return path != r.Path })
		if other < 0 {
			single = append(single, r)
			continue
		}
		doubles = append(doubles, &RequestError{r.Path, fmt.Errorf("id %s or number %d %w by %s",
			r.ID, r.Number, ErrDouble, clean(claims[other]))})
	}
	return single, doubles
}
