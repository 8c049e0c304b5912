package pipeline_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	repository = "acme/shop"
	apiToken   = "ghs_thetokenofthisrun"
	thisRun    = "900"
)

// stateName is the name of the artifact with the state; others are for people.
const stateName = "signalbox-heal"

// saved is an artifact as GitHub lists it, with what is in it.
type saved struct {
	name          string
	id, run, days int
	branch        string
	fork, expired bool
	workflow      int    // 7, ours, unless it is another
	event         string // a schedule, unless it was something else
	created       time.Time
	zip           []byte
}

// hub speaks as much of GitHub's API as finding an artifact takes, and receives
// what the stand-in for actions/upload-artifact saves.
type hub struct {
	*httptest.Server
	t *testing.T

	mu        sync.Mutex
	artifacts []saved
	succeeded int      // earlier runs of the workflow on the branch
	issues    []*issue // the oldest first
	down      bool
	silent    string // what is not answered about: a part of a path
	pages     int    // of artifacts that were asked for
}

func newHub(t *testing.T) *hub {
	h, mux := &hub{t: t}, http.NewServeMux()
	for pattern, handle := range map[string]http.HandlerFunc{
		"artifacts":            h.list,
		"runs/{run}/artifacts": h.list,
		"artifacts/{id}/zip":   h.locate,
		"runs/{run}":           h.runOf,
		"workflows/7/runs":     h.earlier,
	} {
		mux.HandleFunc("GET /repos/"+repository+"/actions/"+pattern, h.authorized(handle))
	}
	h.serveIssues(mux)
	mux.HandleFunc("GET /blob/{id}", h.blob)
	mux.HandleFunc("POST /upload", h.upload)
	h.Server = httptest.NewServer(mux)
	t.Cleanup(h.Close)
	return h
}

func write(w io.Writer, body any) { _ = json.NewEncoder(w).Encode(body) }

func (h *hub) authorized(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		switch {
		case h.down, h.silent != "" && strings.Contains(r.URL.Path, h.silent):
			http.Error(w, "no", http.StatusNotImplemented)
		case r.Header.Get("Authorization") != "Bearer "+apiToken:
			http.Error(w, "who are you?", http.StatusUnauthorized)
		default:
			handle(w, r)
		}
	}
}

// list has the artifacts in the order in which they were put there.
func (h *hub) list(w http.ResponseWriter, r *http.Request) {
	page := max(number(r.URL.Query().Get("page")), 1)
	h.pages = max(h.pages, page)
	list := []map[string]any{}
	for _, a := range h.artifacts {
		if run := r.PathValue("run"); run != "" && number(run) != a.run || a.name != r.URL.Query().Get("name") {
			continue
		}
		head := 1
		if a.fork {
			head = 2
		}
		list = append(list, map[string]any{"id": a.id, "name": a.name, "expired": a.expired, "created_at": a.created.Format(time.RFC3339),
			"workflow_run": map[string]any{"id": a.run, "repository_id": 1, "head_repository_id": head, "head_branch": a.branch}})
	}
	from := min((page-1)*100, len(list))
	write(w, map[string]any{"total_count": len(list), "artifacts": list[from:min(from+100, len(list))]})
}

// runOf answers with the run that saved an artifact, by default with this one.
func (h *hub) runOf(w http.ResponseWriter, r *http.Request) {
	var a saved
	if i := slices.IndexFunc(h.artifacts, func(a saved) bool { return a.run == number(r.PathValue("run")) }); i >= 0 {
		a = h.artifacts[i]
	}
	head := 1
	if a.fork {
		head = 2
	}
	write(w, map[string]any{"id": number(r.PathValue("run")), "workflow_id": cmp.Or(a.workflow, 7), "event": cmp.Or(a.event, "schedule"), "head_branch": cmp.Or(a.branch, "main"),
		"repository": map[string]any{"id": 1}, "head_repository": map[string]any{"id": head}})
}

func (h *hub) earlier(w http.ResponseWriter, r *http.Request) {
	if q := r.URL.Query(); q.Get("branch") != "main" || q.Get("status") != "success" {
		h.t.Errorf("asked for the runs %s", r.URL)
	}
	write(w, map[string]any{"total_count": h.succeeded})
}

func (h *hub) locate(w http.ResponseWriter, r *http.Request) {
	for _, a := range h.artifacts {
		if a.id == number(r.PathValue("id")) && !a.expired {
			// Another host, which must not see the token.
			http.Redirect(w, r, fmt.Sprintf("http://localhost:%s/blob/%d", h.port(), a.id), http.StatusFound)
			return
		}
	}
	http.Error(w, "gone", http.StatusGone)
}

func (h *hub) blob(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Header.Get("Authorization") != "" {
		h.t.Error("the token was sent to where the artifact lies")
	}
	for _, a := range h.artifacts {
		if a.id == number(r.PathValue("id")) {
			_, _ = w.Write(a.zip)
		}
	}
}

func (h *hub) upload(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		h.t.Error(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	q := r.URL.Query()
	same := func(a saved) bool { return a.run == number(q.Get("run")) && a.name == q.Get("name") }
	if q.Get("overwrite") == "true" {
		h.artifacts = slices.DeleteFunc(h.artifacts, same)
	} else if slices.ContainsFunc(h.artifacts, same) {
		http.Error(w, "there is one of that name", http.StatusConflict)
		return
	}
	h.add(saved{name: q.Get("name"), run: number(q.Get("run")), days: number(q.Get("retention-days")), branch: "main", created: time.Now(), zip: body})
}

// add puts an artifact in front of the others: the state, unless it has another name.
func (h *hub) add(a saved) {
	a.name = cmp.Or(a.name, stateName)
	a.id = 1000 + len(h.artifacts)
	h.artifacts = slices.Insert(h.artifacts, 0, a)
}

func (h *hub) port() string { return h.URL[len("http://127.0.0.1:"):] }

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// packed is an artifact of these files.
func packed(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var data bytes.Buffer
	archive := zip.NewWriter(&data)
	for name, content := range files {
		file, err := archive.Create(name)
		if err == nil {
			_, err = io.WriteString(file, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

// unpacked are the files of an artifact.
func unpacked(t *testing.T, a saved) map[string]string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(a.zip), int64(len(a.zip)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, entry := range archive.File {
		file, err := entry.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(file)
		if err = cmp.Or(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		files[entry.Name] = string(content)
	}
	return files
}
