package budget

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"signalbox/internal/flock"
)

const (
	// maxState is far above what a state can grow to.
	maxState = 1 << 20
	// lockWait bounds the wait for a process that was stopped while it held the lock. After that, this process remembers alone.
	lockWait = 2 * time.Second
	// Answers that were not used for keptFor are forgotten, and credentials that were not used for forgottenAfter.
	keptFor        = 7 * 24 * time.Hour
	forgottenAfter = 30 * 24 * time.Hour
	// maxFiles bounds the answers of one credential, and sweepEvery is how often they are counted.
	maxFiles   = 2000
	sweepEvery = 32
)

// Folder returns the folder that a user's processes share: below $XDG_CACHE_HOME or ~/.cache, or empty if neither is usable, or is inside the project at
// an absolute root, where a repository could put answers that no server gave.
func Folder(project string, getenv func(string) string) string {
	cache := getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(cache) {
		home := getenv("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		cache = filepath.Join(home, ".cache")
	}
	at := filepath.Join(cache, "signalbox", "forge")
	if inside, err := filepath.Rel(project, at); err == nil && inside != ".." && !strings.HasPrefix(inside, "../") {
		return ""
	}
	return at
}

// folder is a Folder that belongs to this user alone. It has a lock, <credential>.json with its state, and <credential>/ with its answers.
type folder struct {
	path string
	now  func() time.Time
}

func openFolder(path string, now func() time.Time) (*folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(stat.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("%s is not yours alone: remove it, or take it over with chown and chmod go-w", path)
	}
	f := &folder{path, now}
	f.forget()
	return f, nil
}

// forget removes what is kept of credentials that were not used for long.
func (f *folder) forget() {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return
	}
	for _, entry := range entries {
		id, isState := strings.CutSuffix(entry.Name(), ".json")
		if info, err := entry.Info(); err == nil && isState && f.now().Sub(info.ModTime()) > forgottenAfter {
			_ = os.RemoveAll(filepath.Join(f.path, id))
			_ = os.Remove(filepath.Join(f.path, entry.Name()))
		}
	}
}

// All returns what is known of every credential in a Folder, by server and name. It asks no one. A missing folder has none.
func All(path string, now func() time.Time) (all []Use, err error) {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f := &folder{path, now}
	for _, entry := range entries {
		id, isState := strings.CutSuffix(entry.Name(), ".json")
		if !isState {
			continue
		}
		if s, ok := f.state(id).read(state{}); ok && s.Host != "" {
			s.prune(now())
			all = append(all, s.use(id, now()))
		}
	}
	slices.SortFunc(all, compare)
	return all, nil
}

func compare(a, b Use) int {
	return cmp.Or(strings.Compare(a.Host, b.Host), strings.Compare(a.Name, b.Name))
}

// stateFile is a credential's state on disk.
type stateFile struct {
	in   *folder
	name string
}

func (f *folder) state(id string) *stateFile { return &stateFile{f, id + ".json"} }

// read returns the state, a new one if it is missing or damaged, and reports whether the folder could be read.
func (f *stateFile) read(begun state) (state, bool) {
	text, _, err := readFile(filepath.Join(f.in.path, f.name), maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return begun, true
	}
	return decoded(text, begun), err == nil
}

// update changes the state under the lock of all processes, and reports whether that was possible. A kill at any instant leaves the old state or the
// new one; after a power cut it may be damaged, and is begun anew.
func (f *stateFile) update(ctx context.Context, begun state, change func(*state)) bool {
	lock, err := os.OpenFile(filepath.Join(f.in.path, "lock"), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return false
	}
	limited, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	if err := flock.Wait(limited, lock); err != nil {
		return false
	}
	defer func() { _ = flock.Release(lock) }()
	s, ok := f.read(begun)
	if !ok {
		return false
	}
	change(&s)
	text, err := json.Marshal(s)
	if err != nil {
		return false
	}
	// Only who has the lock writes this file, so what a killed process left is overwritten.
	temporary := filepath.Join(f.in.path, f.name+".new")
	return f.in.replace(temporary, filepath.Join(f.in.path, f.name), text, f.in.now()) == nil
}

// replace puts a file into place as a whole. It is dated by the clock that ages are counted by.
func (f *folder) replace(temporary, path string, text []byte, at time.Time) error {
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err == nil {
		if err = os.Chtimes(temporary, at, at); err == nil {
			err = os.Rename(temporary, path)
		}
	}
	if err != nil {
		_ = os.Remove(temporary)
	}
	return err
}

// readFile reads a regular file that is not larger than limit, and its time.
func readFile(path string, limit int64) (text []byte, at time.Time, err error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, at, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return nil, at, errors.Join(err, fmt.Errorf("%s is no file of ours", path))
	}
	text, err = io.ReadAll(io.LimitReader(file, limit))
	return text, info.ModTime(), err
}

// answerFiles keeps answers in files, one each. Its time of modification is when the server gave or confirmed it.
type answerFiles struct {
	in     *folder
	path   string
	writes atomic.Int64
}

func (f *folder) answers(id string) *answerFiles {
	return &answerFiles{in: f, path: filepath.Join(f.path, id)}
}

// meta is the first line of an answer's file; the body is below.
type meta struct {
	Version int         `json:"version"`
	Key     string      `json:"key"`
	Status  int         `json:"status"`
	Header  http.Header `json:"header"`
	Sum     string      `json:"sum"`
}

// maxMeta is far above what the kept headers of an answer take.
const maxMeta = 64 << 10

func sumOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

func (a *answerFiles) file(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(a.path, hex.EncodeToString(sum[:16]))
}

// get returns a whole answer. A damaged one is none.
func (a *answerFiles) get(key string) (answer, bool) {
	text, at, err := readFile(a.file(key), maxKeptAnswer+maxMeta)
	if err != nil {
		return answer{}, false
	}
	line, body, _ := bytes.Cut(text, []byte("\n"))
	var m meta
	if json.Unmarshal(line, &m) != nil || m.Version != version || m.Key != key || m.Sum != sumOf(body) {
		return answer{}, false
	}
	return answer{status: m.Status, header: m.Header, body: body, at: at}, true
}

func (a *answerFiles) put(key string, fresh answer) {
	line, err := json.Marshal(meta{version, key, fresh.status, fresh.kept().header, sumOf(fresh.body)})
	if err != nil || len(line) > maxMeta || os.MkdirAll(a.path, 0o700) != nil {
		return
	}
	temporary := filepath.Join(a.path, ".new-"+rand.Text())
	_ = a.in.replace(temporary, a.file(key), append(append(line, '\n'), fresh.body...), fresh.at) // the answer is asked for again, then
	if a.writes.Add(1)%sweepEvery == 1 {
		a.sweep()
	}
}

// confirm writes an answer again only if more than its time changed.
func (a *answerFiles) confirm(key string, known answer, by http.Header, at time.Time) answer {
	again := known.confirmed(by, at)
	if slices.Equal(again.header["Link"], known.header["Link"]) && again.header.Get("ETag") == known.header.Get("ETag") {
		_ = os.Chtimes(a.file(key), at, at)
	} else {
		a.put(key, again)
	}
	return again
}

// sweep removes the answers that were not used for the longest time, and what killed processes left.
func (a *answerFiles) sweep() {
	entries, err := os.ReadDir(a.path)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(x, y fs.FileInfo) int {
		return cmp.Or(y.ModTime().Compare(x.ModTime()), strings.Compare(x.Name(), y.Name()))
	})
	size, count, now := int64(0), 0, a.in.now()
	for _, file := range files {
		age := now.Sub(file.ModTime())
		left := strings.HasPrefix(file.Name(), ".new-")
		if !left {
			size, count = size+file.Size(), count+1
		}
		if left && (age > time.Minute || age < -time.Minute) || age > keptFor || size > maxKept || count > maxFiles {
			_ = os.Remove(filepath.Join(a.path, file.Name()))
		}
	}
}
