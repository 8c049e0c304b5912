package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/forge/local"
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
