package pipeline_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"signalbox/internal/pipeline"
)

// TestTheGitLabFileHoldsToThePublishedSchema takes the schema with which GitLab's own editor judges such files
// (testdata/README.md says where it is from).
func TestTheGitLabFileHoldsToThePublishedSchema(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.NewCompiler().Compile("testdata/gitlab-ci.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	text := fileOf(t, pipeline.GitLab(), ".gitlab/signalbox-heal.yml")
	for _, c := range []struct {
		text  string
		valid bool
	}{{text, true}, {strings.Replace(text, "expire_in: 7 days", "expires_in: 7 days", 1), false}, {strings.Replace(text, "when: always", "when: sometimes", 1), false}} {
		var document any
		if err := yaml.Unmarshal([]byte(c.text), &document); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(document); (err == nil) != c.valid {
			t.Errorf("%v of\n%s", err, c.text)
		}
	}
}

func fileOf(t *testing.T, files []pipeline.File, name string) string {
	t.Helper()
	for _, file := range files {
		if file.Path == name {
			return string(file.Content)
		}
	}
	t.Fatalf("there is no %s", name)
	return ""
}

// job is a job of GitLab's as its API lists it, with the files that it saved.
type job struct {
	ID      int               `json:"id"`
	Name    string            `json:"name"`
	Ref     string            `json:"ref"`
	Tag     bool              `json:"tag"`
	File    *struct{}         `json:"artifacts_file,omitempty"`
	Expires string            `json:"artifacts_expire_at,omitempty"`
	Erased  string            `json:"erased_at,omitempty"`
	Of      *source           `json:"pipeline,omitempty"` // older GitLabs do not say
	saved   map[string]string // its artifact
}

type source struct {
	Source string `json:"source"`
}

func healed(id int, files map[string]string) job {
	return job{ID: id, Name: "signalbox-heal", Ref: "main", File: &struct{}{}, Expires: "2030-01-01T00:00:00Z", saved: files}
}

// silent, as a job's name, makes the API not answer.
const silent = "silent"

// gitLab speaks as much of GitLab's API as finding a job's artifact takes.
func gitLab(t *testing.T, jobs []job) *httptest.Server {
	mux := http.NewServeMux()
	serveGitLabJobs(mux, func() []job { return jobs })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func serveGitLabJobs(mux *http.ServeMux, all func() []job) {
	mux.HandleFunc("GET /api/v4/projects/12/jobs", func(w http.ResponseWriter, r *http.Request) {
		jobs := all()
		switch {
		case r.Header.Get("Authorization") != "Bearer "+apiToken:
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		case len(jobs) > 0 && jobs[0].Name == silent:
			http.Error(w, "no", http.StatusNotImplemented)
			return
		}
		from := min((number(r.URL.Query().Get("page"))-1)*100, len(jobs))
		write(w, append([]job{}, jobs[from:min(from+100, len(jobs))]...))
	})
	mux.HandleFunc("GET /api/v4/projects/12/jobs/{id}/artifacts/{file}", func(w http.ResponseWriter, r *http.Request) {
		for _, j := range all() {
			if content, ok := j.saved[r.PathValue("file")]; ok && j.ID == number(r.PathValue("id")) {
				if content == silent {
					w.Header().Set("Content-Length", "9") // and it breaks off
				}
				_, _ = fmt.Fprint(w, content)
				return
			}
		}
		http.NotFound(w, r)
	})
}

// lab runs the job's script as GitLab's shell runner does: its lines in one bash, in a clone of the branch's commit without a branch.
func (s *site) lab(server *httptest.Server, variables ...string) (log string, err error) {
	s.Helper()
	var file map[string]struct {
		Script    []string
		Variables map[string]string
	}
	if err := yaml.Unmarshal([]byte(fileOf(s.T, pipeline.GitLab(), ".gitlab/signalbox-heal.yml")), &file); err != nil {
		s.Fatal(err)
	}
	program, err := signalbox()
	if err != nil {
		s.Fatal(err)
	}
	s.git("checkout", "--quiet", "--detach")
	s.git("branch", "--quiet", "--delete", "main")
	c := exec.CommandContext(s.Context(), "bash", "-c", "set -eo pipefail\n"+strings.Join(file["signalbox-heal"].Script, "\n"))
	c.Dir, c.Env = s.dir, s.environ()
	for name, value := range file["signalbox-heal"].Variables {
		c.Env = append(c.Env, name+"="+value)
	}
	c.Env = append(c.Env, "SIGNALBOX=tools/signalbox", "CI_COMMIT_BRANCH=main", "CI_API_V4_URL="+server.URL+"/api/v4", "CI_PROJECT_ID=12", "CI_JOB_ID=77", "CI_JOB_URL=https://gitlab.example.org/acme/shop/-/jobs/77",
		"CI_PROJECT_URL="+strings.TrimSuffix(s.origin, ".git"), "CI_SERVER_URL="+server.URL, "SIGNALBOX_GITLAB_TOKEN="+apiToken, "TEST_SIGNALBOX="+program)
	c.Env = append(c.Env, variables...)
	out, err := c.CombinedOutput()
	return string(out), err
}

func newGitLabSite(t *testing.T, pass string) *site {
	t.Helper()
	files := append(pipeline.GitLab(), pipeline.File{Path: ".gitlab-ci.yml", Content: []byte("include:\n  - local: .gitlab/signalbox-heal.yml\n")})
	return newSite(t, files, pass)
}

func TestTheGitLabJobCarriesTheStateOn(t *testing.T) {
	t.Parallel()
	fresh := fmt.Sprintf(`{"last_health_status":"healthy","updated_at":%q}`, time.Now().Format(time.RFC3339))
	for name, c := range map[string]struct {
		jobs      []job
		pass      string
		variables []string
		fails     bool
		says      string
		key, want string // of the state that is left
	}{
		"a real pass repairs": {pass: theRealPass, says: "shop: repaired", key: "total_fixes_succeeded", want: "1"},
		"a first run repairs": {pass: repairs, says: "This is the first run", key: "total_fixes_succeeded", want: "1"},
		"a failed repair goes on from the last": {jobs: []job{{ID: 9, Name: "test", Ref: "main"}, healed(8, map[string]string{"state.json": failedOnce})},
			pass: fails, fails: true, says: "The newest state is that of job 8", key: "continuous_failure_count", want: "2"},
		"nothing is due":         {jobs: []job{{ID: 8, Name: "signalbox-heal", Ref: "main", File: &struct{}{}, Of: &source{"schedule"}, saved: map[string]string{"state.json": fresh}}}, pass: repairs, says: "stop: healthy", key: "last_health_status", want: `"healthy"`},
		"a broken state":         {jobs: []job{healed(8, map[string]string{"state.json": "{", "state.json.bak": failedOnce})}, pass: fails, fails: true, says: "deciding by state.json.bak", key: "continuous_failure_count", want: "2"},
		"it expired":             {jobs: []job{{ID: 8, Name: "signalbox-heal", Ref: "main", Expires: "2020-01-01T00:00:00Z"}}, pass: repairs, fails: true, says: "of job 8 has expired"},
		"it was erased":          {jobs: []job{{ID: 8, Name: "signalbox-heal", Ref: "main", Erased: "2020-01-01T00:00:00Z"}}, pass: repairs, fails: true, says: "of job 8 was erased"},
		"it cannot be had":       {jobs: []job{healed(8, nil)}, pass: repairs, fails: true, says: "of job 8 cannot be read"},
		"the answer breaks off":  {jobs: []job{healed(8, map[string]string{"state.json": failedOnce, "state.json.bak": silent})}, pass: repairs, fails: true, says: "of job 8 cannot be read"},
		"GitLab does not answer": {jobs: []job{{ID: 9, Name: silent}}, pass: repairs, fails: true, says: "501"},
		"begun anew": {jobs: []job{{ID: 8, Name: "signalbox-heal", Ref: "main", Expires: "2020-01-01T00:00:00Z"}}, pass: repairs, variables: []string{"SIGNALBOX_PERSON=begin-anew"},
			says: "begins the state anew", key: "total_fixes_succeeded", want: "1"},
		"fixed by a person": {jobs: []job{healed(8, map[string]string{"state.json": `{"last_health_status":"critical","total_errors_detected":9}`})}, pass: repairs,
			variables: []string{"SIGNALBOX_PERSON=mended"}, says: "stop: healthy", key: "total_errors_detected", want: "9"},
		"another branch's, tag's and pipeline's are not ours": {jobs: []job{{ID: 10, Name: "signalbox-heal", Ref: "x", File: &struct{}{}}, {ID: 9, Name: "signalbox-heal", Ref: "main", Tag: true, File: &struct{}{}},
			{ID: 8, Name: "signalbox-heal", Ref: "main", File: &struct{}{}, Of: &source{"merge_request_event"}}},
			pass: repairs, says: "This is the first run", key: "total_fixes_succeeded", want: "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newGitLabSite(t, c.pass)
			log, err := s.lab(gitLab(t, c.jobs), c.variables...)
			if (err != nil) != c.fails || !strings.Contains(log, c.says) || strings.Contains(log, apiToken) {
				t.Fatalf("%v\n%s", err, log)
			}
			data, err := os.ReadFile(filepath.Join(s.dir, "state.json"))
			if pushed := s.git("--git-dir", s.origin, "show", "main:shop.txt"); (pushed == "mended") != (c.key == "total_fixes_succeeded") {
				t.Errorf("the branch has %q\n%s", pushed, log)
			}
			if (err == nil) != (c.key != "") {
				t.Fatalf("left %q, %v", data, err)
			}
			var state map[string]json.RawMessage
			if err == nil && (json.Unmarshal(data, &state) != nil || string(state[c.key]) != c.want) {
				t.Errorf("%s is %s in %s", c.key, state[c.key], data)
			}
		})
	}
}

func TestTheGitLabJobComesOnlyWithItsOwnSchedulesOnTheDefaultBranch(t *testing.T) {
	t.Parallel()
	s := newGitLabSite(t, repairs)
	for variable, comes := range map[string]bool{"CI_PIPELINE_SOURCE=schedule": true, "CI_PIPELINE_SOURCE=merge_request_event": false,
		"SIGNALBOX_HEAL=false": false, "CI_DEFAULT_BRANCH=other": false} {
		c := exec.CommandContext(t.Context(), runner(t, "gitlab-ci-local"), "--list", "--json-schema-validation=false", "--variable", "CI_PIPELINE_SOURCE=schedule",
			"--variable", "SIGNALBOX_HEAL=true", "--variable", variable)
		c.Dir, c.Env = s.dir, s.environ()
		out, err := c.CombinedOutput()
		if strings.Contains(string(out), "signalbox-heal") != comes {
			t.Errorf("%s: %v\n%s", variable, err, out)
		}
	}
}
