package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"signalbox/internal/forge"
	"signalbox/internal/store"
)

// Limits of a written request: characters of its title, bytes of its body. Only a mistake exceeds them.
const (
	maxOpenedTitle = 200
	maxOpenedBody  = 256 << 10
)

// opened records what OpenRequest has given out, in .signalbox/requests/opened.json.
type opened struct {
	// Last is the highest number ever given out here.
	Last     int                      `json:"last"`
	Requests map[string]openedRequest `json:"requests"` // by key
}

type openedRequest struct {
	ID     string `json:"id"`
	Number int    `json:"number"`
	Title  string `json:"title"`
	Body   string `json:"body"`
	// Written: the file existed once. If it is missing now, a person removed it.
	Written bool `json:"written"`
}

// OpenRequest writes requests/<id>.md, once per key. It first records the number durably; after a crash
// the next call writes the same file.
func (f *Forge) OpenRequest(ctx context.Context, key, title, body string) (forge.Request, error) {
	record := store.Record[opened](f.store, "requests", "opened")
	request, err := f.intend(ctx, record, key, title, body)
	if err == nil && !request.Written {
		err = record.Update(ctx, func(o *opened) error {
			request.Written = true
			o.Requests[key] = request
			return f.writeRequest(request)
		})
	}
	if err != nil {
		return forge.Request{}, fmt.Errorf("open request: %w", err)
	}
	found, err := f.Request(ctx, request.ID)
	if errors.Is(err, forge.ErrNotFound) {
		return forge.Request{ID: request.ID, Number: request.Number, Title: request.Title, Body: request.Body, Closed: true}, nil
	}
	return found, err
}

// intend records the number and content of a new request, or returns the one that has the key.
func (f *Forge) intend(ctx context.Context, record *store.Document[opened], key, title, body string) (request openedRequest, err error) {
	title, body = clean(title), strings.TrimSpace(strings.ToValidUTF8(body, "\ufffd"))
	if key == "" || title == "" {
		return request, errors.New("a key and a title are needed")
	}
	if runes := []rune(title); len(runes) > maxOpenedTitle {
		title = string(runes[:maxOpenedTitle-1]) + "…"
	}
	if len(body) > maxOpenedBody {
		body = strings.ToValidUTF8(body[:maxOpenedBody], "") + "\n…"
	}
	err = record.Update(ctx, func(o *opened) error {
		if known, ok := o.Requests[key]; ok {
			request = known
			return nil
		}
		id, number, err := f.nextRequest(ctx, o.Last)
		if err != nil {
			return err
		}
		request = openedRequest{ID: id, Number: number, Title: title, Body: body}
		if o.Requests == nil {
			o.Requests = map[string]openedRequest{}
		}
		o.Last, o.Requests[key] = number, request
		return nil
	})
	return request, err
}

// nextRequest returns a number above all that have ever been used, with its id.
func (f *Forge) nextRequest(ctx context.Context, last int) (id string, number int, err error) {
	requests, _, err := f.readRequests()
	if err != nil {
		return "", 0, err
	}
	used := map[string]bool{}
	for _, r := range requests {
		last = max(last, r.Number)
		used[r.ID] = true
	}
	for number = last + 1; ; number++ {
		id = fmt.Sprintf("RQ-%s-%03d", f.now().Format("20060102"), number)
		// It's free if neither a note about a deleted request nor a file, even an unreadable one, has it.
		_, err := f.note(number).Load(ctx)
		if errors.Is(err, fs.ErrNotExist) {
			_, err = os.Lstat(filepath.Join(f.root, requestsFolder, id+".md"))
		}
		free := errors.Is(err, fs.ErrNotExist)
		if err != nil && !free {
			return "", 0, err
		}
		if free && !used[id] {
			return id, number, nil
		}
	}
}

// writeRequest creates the file unless its name exists. The caller holds the lock of the opened record,
// so no other process uses the temporary name.
func (f *Forge) writeRequest(r openedRequest) error {
	header, err := yaml.Marshal(struct {
		ID     string `yaml:"id"`
		Number int    `yaml:"number"`
		Title  string `yaml:"title"`
	}{r.ID, r.Number, r.Title})
	if err != nil {
		return err
	}
	content := bytes.Join([][]byte{[]byte("---\n"), header, []byte("---\n\n"), []byte(r.Body), []byte("\n")}, nil)
	if _, err := parseRequest(content); err != nil {
		return err
	}
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := root.MkdirAll(requestsFolder, 0o777); err != nil {
		return err
	}
	folder, err := root.OpenRoot(requestsFolder) // a link may lead elsewhere in the project, but not out of it
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }()
	name := r.ID + ".md"
	if _, err := folder.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return putFile(folder, name, content)
}

// putFile creates a file completely or not at all.
func putFile(folder *os.Root, name string, content []byte) error {
	temp := "." + name + ".tmp" // left by a killed process; it is overwritten
	if err := folder.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := folder.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = folder.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, folder.Remove(temp))
	}
	dir, err := folder.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
