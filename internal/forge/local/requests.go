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
)

const requestsFolder = "requests"

// RequestError says what is wrong with one request file. The others are not
// affected by it.
type RequestError struct {
	// Path is relative to the project root.
	Path string
	Err  error
}

func (e *RequestError) Error() string { return clean(e.Path) + ": " + e.Err.Error() }
func (e *RequestError) Unwrap() error { return e.Err }

// ErrDouble is of a request whose id or number another file has, too.
var ErrDouble = errors.New("is also claimed")

// absentError names a request that is not there.
type absentError string

func (e absentError) Error() string      { return fmt.Sprintf("there is no request %q", string(e)) }
func (absentError) Is(target error) bool { return target == forge.ErrNotFound }

// Requests lists all requests by number. Files that cannot be read are left out
// and come back as joined RequestErrors beside the list.
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

// Request finds one by id, number ("7" or "#7") or path. Another file that is
// broken does not stand in the way, unless it may be the one that is meant.
func (f *Forge) Request(ctx context.Context, ref string) (forge.Request, error) {
	requests, broken, err := f.readRequests()
	if err != nil {
		return forge.Request{}, err
	}
	matches := matcher(f.root, ref)
	for _, request := range requests {
		if matches(request.ID, request.Number, request.Path) {
			request.Closed, err = f.closed(ctx, request)
			return request, err
		}
	}
	for _, err := range broken {
		if problem := (*RequestError)(nil); errors.As(err, &problem) && matches("", 0, problem.Path) {
			return forge.Request{}, err
		}
	}
	return forge.Request{}, errors.Join(absentError(ref), errors.Join(broken...))
}

// matcher tells whether a request is the one that ref names. A path is compared
// with the paths that were listed and never opened, so it cannot lead outside.
func matcher(root, ref string) func(id string, number int, path string) bool {
	if idPattern().MatchString(ref) {
		return func(id string, _ int, _ string) bool { return id == ref }
	}
	if digits := strings.TrimPrefix(ref, "#"); numberPattern().MatchString(digits) {
		return func(_ string, number int, _ string) bool { return strconv.Itoa(number) == digits }
	}
	if filepath.IsAbs(ref) {
		ref, _ = filepath.Rel(root, ref)
	}
	ref = filepath.ToSlash(filepath.Clean(ref))
	return func(_ string, _ int, path string) bool { return path == ref }
}

// readRequests returns the sound files by number and an error for every other one.
func (f *Forge) readRequests() (requests []forge.Request, broken []error, err error) {
	folder, err := os.OpenRoot(filepath.Join(f.root, requestsFolder))
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
		if !isRequestFile(entry.Name()) {
			continue
		}
		path := requestsFolder + "/" + entry.Name()
		request, err := readRequest(folder, entry.Name())
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

// isRequestFile leaves editors' hidden files and a folder's README alone.
func isRequestFile(name string) bool {
	return strings.HasSuffix(name, ".md") && !strings.HasPrefix(name, ".") && !strings.EqualFold(name, "README.md")
}

// readRequest reads a regular file with one name only: a link of either kind
// could lead to a file that its author may not read.
func readRequest(folder *os.Root, name string) (forge.Request, error) {
	listed, err := folder.Lstat(name)
	if err != nil {
		return forge.Request{}, err
	}
	if !listed.Mode().IsRegular() {
		return forge.Request{}, errors.New("not a regular file")
	}
	file, err := folder.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return forge.Request{}, err
	}
	defer func() { _ = file.Close() }()
	opened, err := file.Stat()
	if err != nil {
		return forge.Request{}, err
	}
	if stat, ok := opened.Sys().(*syscall.Stat_t); !os.SameFile(listed, opened) || !ok || stat.Nlink != 1 {
		return forge.Request{}, errors.New("the file has more than one name")
	}
	data, err := io.ReadAll(io.LimitReader(file, maxRequestBytes+1))
	if err != nil {
		return forge.Request{}, err
	}
	if len(data) > maxRequestBytes {
		return forge.Request{}, fmt.Errorf("larger than %d bytes", maxRequestBytes)
	}
	return parseRequest(data)
}

// withoutDoubles sorts by number and leaves out all files that claim one id or
// number together: guessing which one is meant would carry out the wrong request.
func withoutDoubles(requests []forge.Request) (single []forge.Request, doubles []error) {
	slices.SortFunc(requests, func(a, b forge.Request) int { return a.Number - b.Number })
	for _, request := range requests {
		other := slices.IndexFunc(requests, func(r forge.Request) bool {
			return r.Path != request.Path && (r.ID == request.ID || r.Number == request.Number)
		})
		if other < 0 {
			single = append(single, request)
			continue
		}
		doubles = append(doubles, &RequestError{request.Path, fmt.Errorf("id %s or number %d %w by %s",
			request.ID, request.Number, ErrDouble, clean(requests[other].Path))})
	}
	return single, doubles
}
