package local_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"signalbox/internal/forge"
	"signalbox/internal/forge/local"
	"signalbox/internal/store"
)

func request(id, title string) string {
	return "---\nid: " + id + "\ntitle: " + title + "\n---\nBody\n"
}

// requestProject holds two sound requests (7 and 12) and one of everything that is wrong.
func requestProject(t *testing.T) (*local.Forge, string) {
	t.Helper()
	project := newProject(t)
	in := func(name string) string { return filepath.Join(project, "requests", name) }
	for name, content := range map[string]string{
		"b.md": request("RQ-20261120-012", "Second"), "README.md": "How to write one", ".hidden.md": "no", "note.txt": "no",
		"broken.md": "---\nid: RQ-20261120-013\ntitel: x\n---\n", "large.md": request("RQ-20261120-014", "T") + strings.Repeat("x", 1<<20),
		"one.md": request("RQ-20261120-020", "T"), "same-number.md": request("RQ-20261121-020", "T"),
		"same-id.md": "---\nid: RQ-20261120-020\nnumber: 21\ntitle: T\n---\n",
	} {
		writeFile(t, in(name), content)
	}
	outside := filepath.Join(t.TempDir(), "outside.md")
	writeFile(t, outside, request("RQ-20261120-030", "T"))
	linked := filepath.Join(project, "linked")
	writeFile(t, linked, request("RQ-20261120-031", "T"))
	if err := errors.Join(os.Symlink(outside, in("symbolic.md")), os.Link(linked, in("hard.md")),
		syscall.Mkfifo(in("pipe.md"), 0o600), os.Mkdir(in("folder.md"), 0o700)); err != nil {
		t.Fatal(err)
	}
	return openProject(t, project, nil), project
}

func TestRequestsListsValidFilesAndReportsTheRest(t *testing.T) {
	t.Parallel()
	f, _ := requestProject(t)
	requests, err := f.Requests(t.Context())
	if len(requests) != 2 || requests[0].Number != 7 || requests[1].Number != 12 || requests[1].Path != "requests/b.md" {
		t.Errorf("requests are %+v", requests)
	}
	for _, want := range []string{
		`requests/broken.md: line 3: unknown key "titel"`, "requests/large.md: larger than", "requests/symbolic.md: not a regular file",
		"requests/hard.md: the file has more than one name", "requests/pipe.md: not a regular file", "requests/folder.md: not a regular file",
		"requests/same-number.md: number 20 is also claimed by requests/one.md",
		"requests/same-id.md: id RQ-20261120-020 is also claimed by requests/one.md", "requests/one.md: ",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the report lacks %q:\n%v", want, err)
		}
	}
	if problem := (*local.RequestError)(nil); !errors.As(err, &problem) {
		t.Errorf("the report holds no RequestError: %v", err)
	}
}

func TestRequestIsFoundByIDNumberAndPath(t *testing.T) {
	t.Parallel()
	f, project := requestProject(t)
	for _, ref := range []string{
		"RQ-20261120-012", "12", "#12", "requests/b.md", "./requests/b.md", filepath.Join(project, "requests", "b.md"),
	} {
		if got, err := f.Request(t.Context(), ref); err != nil || got.ID != "RQ-20261120-012" || got.Title != "Second" || got.Body != "Body" {
			t.Errorf("%q finds %+v, %v", ref, got, err)
		}
	}
	for _, ref := range []string{
		"", "-1", "0", "99", "RQ-20261120-099", "requests", "requests/note.txt", "../requests/b.md", "requests/../../x.md",
		"/etc/passwd", "requests/\x00.md", "--help",
	} {
		if got, err := f.Request(t.Context(), ref); !errors.Is(err, forge.ErrNotFound) {
			t.Errorf("%q finds %+v, %v", ref, got, err)
		}
	}
	for ref, want := range map[string]string{
		"requests/broken.md": "unknown key", "broken": `request "broken" can't be read: requests/broken.md: `, "20": "is also claimed by", "requests/symbolic.md": "not a regular file",
	} {
		if _, err := f.Request(t.Context(), ref); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %v, want %q", ref, err, want)
		}
	}
}

func TestAREADMEIsARequestWhereItIsWrittenAsOne(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	writeFile(t, filepath.Join(project, "requests", "readme.md"), request("RQ-20261120-009", "Document it"))
	if requests, err := openProject(t, project, nil).Requests(t.Context()); err != nil || len(requests) != 2 || requests[1].Title != "Document it" {
		t.Errorf("requests are %+v, %v", requests, err)
	}
}

func TestProjectWithoutRequestsHasNone(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	if err := os.RemoveAll(filepath.Join(project, "requests")); err != nil {
		t.Fatal(err)
	}
	if requests, err := openProject(t, project, nil).Requests(t.Context()); err != nil || len(requests) != 0 {
		t.Errorf("requests are %+v, %v", requests, err)
	}
}

// However many requests a command names, each file is opened once: the time before the first line must not grow with the square of their number.
func TestManyRequestsAreFoundByReadingEachFileOnce(t *testing.T) {
	t.Parallel()
	const count = 100
	project := t.TempDir()
	folder := filepath.Join(project, "requests")
	var names []string
	for n := 1; n <= count; n++ {
		writeFile(t, filepath.Join(folder, strconv.Itoa(n)+".md"), request(fmt.Sprintf("RQ-20260101-%03d", n), fmt.Sprintf("Number %d", n)))
		names = append(names, strconv.Itoa(n))
	}
	documents, err := store.Open(t.Context(), store.Config{Root: project})
	if err != nil {
		t.Fatal(err)
	}
	f := local.New(local.Config{Root: project, Store: documents, Clock: func() time.Time { return time.Now().Add(time.Hour) }}) // no file was written a moment ago
	opened := opensOf(t, folder)
	if found, err := f.Find(t.Context(), names...); err != nil || len(found) != count || found[count-1].Title != fmt.Sprintf("Number %d", count) {
		t.Fatalf("found %d requests, %v", len(found), err)
	}
	for _, name := range names { // as each run looks for its own
		if _, err := f.Request(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	if got := opened(); got != count {
		t.Errorf("%d files were opened %d times", count, got)
	}
}

// opensOf counts how often files in a folder are opened from now on.
func opensOf(t *testing.T, folder string) func() int {
	t.Helper()
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(watch) })
	if _, err := unix.InotifyAddWatch(watch, folder, unix.IN_OPEN); err != nil {
		t.Fatal(err)
	}
	return func() (count int) {
		events := make([]byte, 1<<20)
		for {
			n, err := unix.Read(watch, events)
			if err != nil {
				return count
			}
			for at := 0; at < n; {
				event := (*unix.InotifyEvent)(unsafe.Pointer(&events[at]))
				if event.Mask&unix.IN_ISDIR == 0 {
					count++
				}
				at += unix.SizeofInotifyEvent + int(event.Len)
			}
		}
	}
}
