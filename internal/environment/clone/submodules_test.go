package clone_test

import (
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/egress"
	"signalbox/internal/environment/environmenttest"
)

// origin is a repository beside a project.
type origin struct{ *environmenttest.Project }

func newOrigin(t testing.TB, dir string, files map[string]string) origin {
	t.Helper()
	o := origin{&environmenttest.Project{Root: dir}}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	o.Git(t, "init", "--quiet", "--initial-branch=main")
	return o.commit(t, files)
}

func (o origin) commit(t testing.TB, files map[string]string) origin {
	t.Helper()
	for name, content := range files {
		o.Write(t, name, content)
	}
	o.Git(t, "add", "--all")
	o.Git(t, "commit", "--quiet", "--allow-empty", "--message=next")
	o.Commit = o.Git(t, "rev-parse", "HEAD")
	return o
}

// link commits a submodule at a path, and a .gitmodules.
func link(t testing.TB, p *environmenttest.Project, path, commit, modules string) string {
	t.Helper()
	p.Write(t, ".gitmodules", modules)
	p.Git(t, "add", ".gitmodules")
	p.Git(t, "update-index", "--add", "--cacheinfo", "160000,"+commit+","+path)
	p.Git(t, "commit", "--quiet", "--message=link "+commit)
	p.Commit = p.Git(t, "rev-parse", "HEAD")
	return p.Commit
}

// served is a library and one nested in it, on a server; hits counts requests.
type served struct {
	lib, nested origin
	url         string
	hits        atomic.Int64
}

func serve(t testing.TB) *served {
	t.Helper()
	s := &served{}
	dir := t.TempDir()
	s.nested = newOrigin(t, filepath.Join(dir, "nested"), map[string]string{"n.txt": "nested\n"})
	s.lib = newOrigin(t, filepath.Join(dir, "lib"), map[string]string{"a.txt": "one\n", "dir/b.txt": "b\n", ".gitignore": "*.o\n"})
	link(t, s.lib.Project, "inner/nested", s.nested.Commit, "[submodule \"nested\"]\n\tpath = inner/nested\n\turl = ../nested\n")
	core, err := exec.CommandContext(t.Context(), "git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	backend := &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(core)), "git-http-backend"),
		Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.hits.Add(1)
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *served) host() string { return strings.TrimPrefix(s.url, "http://") }

// linked returns a project with the library as a submodule.
func (s *served) linked(t testing.TB) *environmenttest.Project {
	t.Helper()
	p := environmenttest.NewProject(t)
	link(t, p, "deps/lib", s.lib.Commit, "[submodule \"lib\"]\n\tpath = deps/lib\n\turl = "+s.url+"/lib\n")
	return p
}

// populated also fills its folder in the checkout, as "git submodule update" does.
func (s *served) populated(t testing.TB, p *environmenttest.Project) {
	t.Helper()
	p.Git(t, "submodule", "--quiet", "update", "--init", "--recursive")
}

func policy(t testing.TB, allow ...string) egress.Policy {
	t.Helper()
	p, err := egress.NewPolicy(allow, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const seesSubmodules = `cat deps/lib/a.txt deps/lib/dir/b.txt deps/lib/inner/nested/n.txt && ls -A deps/lib && git status --porcelain --ignored=no`

const submodulesSeen = "one\nb\nnested\n.gitignore\n.gitmodules\na.txt\ndir\ninner\n"

// The submodules come from the checkout: there is no network.
func TestSubmodulesAreInAnEnvironmentAtTheirCommit(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*clone.Config){
		"nothing kept":      func(c *clone.Config) { c.Warm = clone.Off },
		"kept by copying":   func(c *clone.Config) { c.Warm = clone.Copy },
		"kept privately":    func(c *clone.Config) { c.Warm = clone.Private },
		"kept by overlay":   func(c *clone.Config) { c.Warm = clone.Overlay },
		"without a sandbox": func(c *clone.Config) { c.Warm, c.Unsandboxed = clone.Copy, true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			p := s.linked(t)
			s.populated(t, p)
			unmountAtEnd(t, p.Root)
			c := config(t, p)
			c.Cache, c.Network = 1<<30, egress.None
			change(&c)
			if c.Warm == clone.Overlay {
				needsRoot(t)
			}
			submodulesStay(t, s, p, c)
		})
	}
}

func submodulesStay(t *testing.T, s *served, p *environmenttest.Project, c clone.Config) {
	t.Helper()
	d := clone.New(c)
	if err := d.CheckSubmodules(t.Context(), p.Commit); err != nil {
		t.Fatal(err)
	}
	e := madeAs(t, d, p.Spec("site"))
	expect(t, e, seesSubmodules, submodulesSeen)

	if c.Warm == clone.Off || c.Unsandboxed { // there is no snapshot yet, so the other ways start with the same clone
		submodulesAreEdited(t, p, e)
	}

	// A later commit has another one, without the nested library.
	before := p.Commit
	s.lib.Git(t, "rm", "-r", "--quiet", "inner", "dir", ".gitmodules")
	after := s.lib.commit(t, map[string]string{"a.txt": "two\n"})
	link(t, p, "deps/lib", after.Commit, p.Git(t, "show", "HEAD:.gitmodules"))
	s.populated(t, p)
	resets(t, e, p.Commit)
	expect(t, e, `cat deps/lib/a.txt; find deps/lib -type f | sort`, "two\ndeps/lib/.gitignore\ndeps/lib/a.txt\n")
	resets(t, e, before)
	expect(t, e, seesSubmodules, submodulesSeen)

	// A setup's files there are part of the snapshot.
	restore := func(e environment.Environment, commit string, warm bool) {
		t.Helper()
		if got, err := e.Restore(t.Context(), commit, "key"); err != nil || got != warm {
			t.Fatalf("restored, warm is %v, %v", got, err)
		}
	}
	keeps := c.Warm != clone.Off
	restore(e, before, false)
	expect(t, e, `echo built >deps/lib/a.o && echo built >deps/lib/inner/nested/made && echo set up >build.o && mkdir -p build && mv build.o build`, "")
	if err := e.Snapshot(t.Context(), "key"); err != nil {
		t.Fatal(err)
	}
	expect(t, e, `cat deps/lib/a.o deps/lib/inner/nested/made && git status --porcelain`, "built\nbuilt\n")
	resets(t, e, before)
	expect(t, e, `cat deps/lib/a.o deps/lib/inner/nested/made build/build.o`, "built\nbuilt\nset up\n")
	p.Commit = before
	other := madeAs(t, clone.New(c), p.Spec("other"))
	expect(t, other, seesSubmodules, submodulesSeen)
	keeps = keeps && !c.Unsandboxed // where every environment has folders of its own
	restore(other, before, keeps)
	if keeps {
		expect(t, other, `cat deps/lib/a.o deps/lib/inner/nested/made build/build.o && rm deps/lib/a.o`, "built\nbuilt\nset up\n")
	}
	expect(t, other, seesSubmodules, submodulesSeen)
	p.Commit = p.Git(t, "rev-parse", "HEAD")
	restore(other, p.Commit, keeps)
	expect(t, other, `cat deps/lib/a.txt; test -e deps/lib/dir || git status --porcelain`, "two\n")
	if err := errors.Join(d.Remove(t.Context(), p.Spec("site")), d.Remove(t.Context(), p.Spec("other"))); err != nil {
		t.Fatal(err)
	}
}

func submodulesAreEdited(t *testing.T, p *environmenttest.Project, e environment.Environment) {
	t.Helper()
	// An edit there is no change, and a reset undoes it, except for files that the library doesn't track.
	expect(t, e, `cd deps/lib && echo edited >a.txt && rm -r dir inner/nested/n.txt && echo built >a.o && git init -q .`, "")
	expect(t, e, `rm -rf deps/lib/.git; git add -A && git status --porcelain`, "")
	change, err := e.Record(t.Context(), p.Commit, "nothing\n")
	if err != nil || change.Changed {
		t.Errorf("an edit in a submodule became the change %+v, %v", change, err)
	}
	expect(t, e, `cat deps/lib/a.txt deps/lib/a.o`, "one\nbuilt\n") // so the tests run on the recorded files
	expect(t, e, `echo edited >deps/lib/a.txt && chmod 0555 deps/lib`, "")
	if _, err := e.Record(t.Context(), p.Commit, "nothing\n"); err != nil {
		t.Error(err)
	}
	expect(t, e, `cat deps/lib/a.txt && echo edited >deps/lib/a.txt && echo built >deps/lib/a.o`, "one\n")
	resets(t, e, p.Commit)
	expect(t, e, seesSubmodules+" && rm deps/lib/a.o", strings.Replace(submodulesSeen, "a.txt\n", "a.o\na.txt\n", 1))
	for _, spoiled := range []string{"rm -rf deps/lib && ln -s ../src deps/lib", "rm deps/lib/inner/nested/n.txt && chmod 0555 deps/lib/inner/nested",
		"cd deps/lib && rm -r inner && ln -s dir inner", "cd deps/lib && git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m mine"} {
		expect(t, e, seesSubmodules+" && { "+spoiled+"; }", submodulesSeen)
		resets(t, e, p.Commit)
	}
	expect(t, e, seesSubmodules, submodulesSeen)
}

func resets(t *testing.T, e environment.Environment, commit string) {
	t.Helper()
	if err := e.Reset(t.Context(), commit, ""); err != nil {
		t.Fatal(err)
	}
}

func TestSubmodulesAreFetchedThroughTheNetworkOfTheEnvironment(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*clone.Config){
		"listened in from outside":         func(*clone.Config) {},
		"listened in by a program inside":  (*clone.Config).Enter,
		"with the whole network":           func(c *clone.Config) { c.Network = egress.Full },
		"for commands that run elsewhere":  func(c *clone.Config) { c.FetchNetwork, c.Network = c.Network, egress.None },
		"without a sandbox, but by policy": func(c *clone.Config) { c.Unsandboxed = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			p := s.linked(t)
			c := config(t, p)
			c.Network, c.Egress = egress.Registries, policy(t, s.host())
			change(&c)
			d := clone.New(c)
			if err := d.CheckSubmodules(t.Context(), p.Commit); err != nil || s.hits.Load() > 0 {
				t.Fatalf("a check: %v, after %d requests", err, s.hits.Load())
			}
			expect(t, madeAs(t, d, p.Spec("site")), seesSubmodules, submodulesSeen)
			hits := s.hits.Load()
			expect(t, madeAs(t, clone.New(c), p.Spec("other")), seesSubmodules, submodulesSeen)
			if s.hits.Load() != hits || hits == 0 {
				t.Errorf("the second environment made %d requests after %d", s.hits.Load()-hits, hits)
			}
			if left, err := filepath.Glob(filepath.Join(state(p), "*", "submodule.git")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %q, %v", left, err)
			}
		})
	}
}

func TestMissingSubmodulesAreNamedBeforeAnythingIsMade(t *testing.T) {
	t.Parallel()
	s := serve(t)
	missing := strings.Repeat("1", 40)
	for name, test := range map[string]struct {
		url, network, commit string
		allow                []string
		want, host           string
		late                 bool // only asking the server tells
	}{
		"its host is not allowed":      {want: "its host " + s.host() + " is not in environment.allow", host: s.host()},
		"there is no network":          {network: egress.None, want: "environment.network is none"},
		"ssh":                          {url: "git@example.org:ada/lib.git", want: "needs ssh"},
		"ssh, with a password":         {url: "ssh://ada:secret@example.org/lib.git", want: "needs ssh"},
		"scp, with a password":         {url: "ada:secret@example.org:lib.git", want: "its address …@example.org:lib.git needs ssh"},
		"scp, with an odd password":    {url: "a_da:@/secret@example.org:lib.git", want: "its address …@example.org:lib.git"},
		"no URL, with a password":      {url: "https://ada:%zz/secret@example.org/lib", want: "its address …@example.org/lib is neither"},
		"a path":                       {url: s.lib.Root, want: "is neither http nor https"},
		"a path as an address":         {url: "file://" + s.lib.Root, want: "is neither http nor https"},
		"a relative one, at no remote": {url: "../lib", want: "the repository has no remote"},
		"a command":                    {url: "ext::sh -c touch% /tmp/x", want: "is neither http nor https"},
		"an option":                    {url: "--upload-pack=touch /tmp/x", want: "is neither http nor https"},
		"git's own protocol":           {url: "git://example.org/lib", want: "is neither http nor https"},
		"no address":                   {url: `""`, want: "it has no address"},
		"its name leads elsewhere":     {url: "x\n[submodule \"../../x\"]\n\tpath = deps/lib", want: "leads out of its folder"},
		"the commit is missing":        {allow: []string{s.host()}, commit: missing, want: "/lib does not have it", late: true},
		"there is no such repository":  {url: s.url + "/no", allow: []string{s.host()}, want: "/no/' not found", late: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := environmenttest.NewProject(t)
			url, commit := test.url, test.commit
			if url == "" {
				url = s.url + "/lib"
			}
			if commit == "" {
				commit = s.lib.Commit
			}
			link(t, p, "deps/lib", commit, "[submodule \"lib\"]\n\tpath = deps/lib\n\turl = "+url+"\n")
			c := config(t, p)
			c.Network, c.Egress = egress.Registries, policy(t, test.allow...)
			if test.network != "" {
				c.Network = test.network
			}
			d := clone.New(c)
			_, err := d.Make(t.Context(), p.Spec("site"))
			checked := d.CheckSubmodules(t.Context(), p.Commit)
			if test.late && checked != nil {
				t.Errorf("a check returned %v", checked)
			}
			if test.late {
				checked = err
			}
			for _, err := range []error{err, checked} {
				var problem *environment.SubmoduleError
				if !errors.As(err, &problem) || !strings.Contains(problem.Error(), test.want) || strings.Contains(err.Error(), "secret") || problem.Passing ||
					strings.Join(problem.Hosts, " ") != test.host {
					t.Errorf("got %v (%+v), want %q", err, problem, test.want)
				}
			}
			if _, err := os.Stat(folder(p)); err == nil {
				t.Error("the work folder was made")
			}
			// Without them it works.
			c.WithoutSubmodules = true
			expect(t, madeAs(t, clone.New(c), p.Spec("site")), "ls -A deps/lib 2>/dev/null || test ! -e deps/lib", "")
		})
	}
}

func TestAFetchFollowsNoRedirectToAnotherHost(t *testing.T) {
	t.Parallel()
	s := serve(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://elsewhere.example"+r.URL.String(), http.StatusFound)
	}))
	t.Cleanup(server.Close)
	p := environmenttest.NewProject(t)
	link(t, p, "lib", s.lib.Commit, "[submodule \"lib\"]\n\tpath = lib\n\turl = "+server.URL+"/lib\n")
	c := config(t, p)
	c.Network, c.Egress = egress.Registries, policy(t, strings.TrimPrefix(server.URL, "http://"))
	_, err := clone.New(c).Make(t.Context(), p.Spec("site"))
	var problem *environment.SubmoduleError
	if !errors.As(err, &problem) || strings.Join(problem.Hosts, " ") != "elsewhere.example" {
		t.Errorf("got %v, want one that names the other host", err)
	}
}

// A person types the host of a message into a setting, so a server must not be able to choose it.
func TestAServerCannotSayWhichHostToAllow(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for what, answer := range map[string]http.HandlerFunc{
		"a setting of its own": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "signalbox: blocked: x]},\"sandbox\":\"none\",\"y\":{\"z\":[\n")
		},
		"every host below one": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "signalbox: blocked: .com\n")
		},
		"what the machine keeps": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254"+r.URL.String(), http.StatusFound)
		},
	} {
		server := httptest.NewServer(answer)
		t.Cleanup(server.Close)
		p := environmenttest.NewProject(t)
		link(t, p, "lib", s.lib.Commit, "[submodule \"lib\"]\n\tpath = lib\n\turl = "+server.URL+"/lib\n")
		c := config(t, p)
		c.Network, c.Egress = egress.Registries, policy(t, strings.TrimPrefix(server.URL, "http://"))
		_, err := clone.New(c).Make(t.Context(), p.Spec("site"))
		var problem *environment.SubmoduleError
		if !errors.As(err, &problem) || len(problem.Hosts) > 0 {
			t.Errorf("%s: got %+v, %v, want a problem that offers no host", what, problem, err)
		}
	}
}

func TestAKilledMakeHasItsSubmodulesOnceItIsMadeAgain(t *testing.T) {
	t.Parallel()
	s := serve(t)
	at := firstKill(t)
	for ; ; at += step() {
		p := s.linked(t)
		if !killed(t, "make", at, p) {
			break
		}
		e := madeAs(t, clone.New(config(t, p)), p.Spec("site"))
		expect(t, e, seesSubmodules, submodulesSeen)
		expectNoLeftovers(t, p)
		if left, err := filepath.Glob(filepath.Join(state(p), "submodules.git", "*", "*tmp*")); err != nil || len(left) > 0 {
			t.Errorf("left behind: %q, %v", left, err)
		}
	}
	if at < 40 {
		t.Errorf("only %d kill points were reached", at)
	}
}

func TestAKilledResetToAnotherCommitOfASubmoduleIsDoneAgain(t *testing.T) {
	t.Parallel()
	s := serve(t)
	p := s.linked(t)
	first := p.Commit
	s.lib.Git(t, "rm", "-r", "--quiet", "inner", "dir")
	after := s.lib.commit(t, map[string]string{"a.txt": "two\n", "dir": "no folder\n"})
	second := link(t, p, "deps/lib", after.Commit, p.Git(t, "show", "HEAD:.gitmodules"))
	s.populated(t, p)
	p.Commit = first
	e := madeAs(t, clone.New(config(t, p)), p.Spec("site"))
	at := firstKill(t)
	for ; ; at += step() {
		expect(t, e, "echo built >deps/lib/a.o; rm -r deps/lib/dir", "")
		again := killed(t, "move", at, p, "SIGNALBOX_TEST_COMMIT="+second)
		resets(t, e, second)
		expect(t, e, "cat deps/lib/a.txt deps/lib/dir deps/lib/a.o; find deps/lib | sort", "two\nno folder\nbuilt\ndeps/lib\ndeps/lib/.gitignore\ndeps/lib/.gitmodules\ndeps/lib/a.o\ndeps/lib/a.txt\ndeps/lib/dir\n")
		resets(t, e, first)
		expect(t, e, seesSubmodules+" && rm deps/lib/a.o", strings.Replace(submodulesSeen, "a.txt\n", "a.o\na.txt\n", 1))
		if !again {
			break
		}
	}
	if at < 20 {
		t.Errorf("only %d kill points were reached", at)
	}
}

func TestAPartialCloneHasItsSubmodules(t *testing.T) {
	t.Parallel()
	s := serve(t)
	whole := s.linked(t)
	whole.Git(t, "config", "uploadpack.allowFilter", "true")
	whole.Git(t, "config", "uploadpack.allowAnySHA1InWant", "true")
	p := &environmenttest.Project{Root: filepath.Join(t.TempDir(), "partial"), Commit: whole.Commit}
	whole.Git(t, "clone", "--quiet", "--filter=blob:none", "--no-checkout", "file://"+whole.Root, p.Root)
	c := config(t, p)
	c.Network, c.Egress = egress.Registries, policy(t, s.host())
	d := clone.New(c)
	if err := d.CheckSubmodules(t.Context(), p.Commit); err != nil {
		t.Error(err)
	}
	expect(t, madeAs(t, d, p.Spec("site")), "cat deps/lib/a.txt deps/lib/inner/nested/n.txt", "one\nnested\n")
}

func TestASubmoduleWithAMissingFileIsFetchedOrNamed(t *testing.T) {
	t.Parallel()
	s := serve(t)
	p := s.linked(t)
	s.populated(t, p)
	module := &environmenttest.Project{Root: filepath.Join(p.Root, "deps/lib")}
	blob := module.Git(t, "rev-parse", "HEAD:a.txt")
	objects := filepath.Join(p.Root, ".git/modules/lib/objects")
	packs, err := filepath.Glob(filepath.Join(objects, "pack/*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range packs { // into loose objects, to delete one
		if err := os.Rename(path, filepath.Join(t.TempDir(), filepath.Base(path))); err != nil {
			t.Fatal(err)
		}
	}
	module.Git(t, "fetch", "--quiet", "--refetch", s.url+"/lib")
	if err := os.Remove(filepath.Join(objects, blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	c := config(t, p)
	c.Network = egress.Registries
	_, err = clone.New(c).Make(t.Context(), p.Spec("site"))
	var problem *environment.SubmoduleError
	if !errors.As(err, &problem) || !strings.Contains(problem.Error(), "are incomplete") || strings.Join(problem.Hosts, " ") != s.host() {
		t.Errorf("got %v", err)
	}
	c.Egress = policy(t, s.host())
	expect(t, madeAs(t, clone.New(c), p.Spec("site")), seesSubmodules, submodulesSeen)
}

func TestASubmoduleIsFetchedWithTheCertificatesOfThisMachine(t *testing.T) {
	t.Parallel()
	s := serve(t)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, s.url+r.URL.String(), http.StatusFound)
	}))
	t.Cleanup(server.Close)
	authority := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	p := environmenttest.NewProject(t)
	link(t, p, "nested", s.nested.Commit, "[submodule \"nested\"]\n\tpath = nested\n\turl = https://ada:secret@"+server.Listener.Addr().String()+"/nested\n")
	c := config(t, p)
	c.Network, c.Egress = egress.Registries, policy(t, s.host(), server.Listener.Addr().String())
	_, err := clone.New(c).Make(t.Context(), p.Spec("site"))
	var problem *environment.SubmoduleError
	if !errors.As(err, &problem) || problem.Passing || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("by the system's certificates: %v", err)
	}
	c.Variables, c.ReadOnly = append(c.Variables, "GIT_SSL_CAINFO="+authority), []string{authority}
	expect(t, madeAs(t, clone.New(c), p.Spec("site")), "cat nested/n.txt", "nested\n")
}

func TestAServerThatAsksForAPasswordOrDoesNotAnswerIsNamed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer  http.HandlerFunc
		want    string
		passing bool
	}{
		"asks": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
		}, "asks who you are", false},
		"refuses":      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "asks who you are", false},
		"is busy":      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, "does not answer", true},
		"breaks off":   {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "does not answer", true},
		"speaks other": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("\x1b[2Jhello")) }, "does not have it", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(test.answer)
			t.Cleanup(server.Close)
			p := environmenttest.NewProject(t)
			link(t, p, "lib", strings.Repeat("1", 40), "[submodule \"lib\"]\n\tpath = lib\n\turl = "+server.URL+"/lib\n")
			c := config(t, p)
			c.Network, c.Egress = egress.Registries, policy(t, strings.TrimPrefix(server.URL, "http://"))
			_, err := clone.New(c).Make(t.Context(), p.Spec("site"))
			var problem *environment.SubmoduleError
			if !errors.As(err, &problem) || !strings.Contains(err.Error(), test.want) || problem.Passing != test.passing || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("got %v (%+v), want %q", err, problem, test.want)
			}
		})
	}
}

// A request may ask for another commit of a library, which is fetched from its address.
func TestAChangeMayMoveASubmoduleToAnAvailableCommit(t *testing.T) {
	t.Parallel()
	s := serve(t)
	p := s.linked(t)
	next := s.lib.commit(t, map[string]string{"a.txt": "two\n"})
	c := config(t, p)
	c.Network, c.Egress = egress.Registries, policy(t, s.host())
	e := madeAs(t, clone.New(c), p.Spec("site")).(*clone.Environment)
	expect(t, e, `cd deps/lib && git init -q . && git fetch -q `+s.url+`/lib main && git reset -q --hard FETCH_HEAD && cat a.txt`, "two\n")
	change, err := e.Record(t.Context(), p.Commit, "move\n")
	if err != nil || p.Git(t, "rev-parse", change.Commit+":deps/lib") != next.Commit {
		t.Fatalf("got %+v, %v", change, err)
	}
	expect(t, e, "cat deps/lib/a.txt; ls -A deps/lib", "two\n.gitignore\n.gitmodules\na.txt\ndir\n")
	if err := e.Submodules(t.Context(), change.Commit); err != nil {
		t.Error(err)
	}
	spec := p.Spec("candidate")
	spec.Commit = change.Commit
	expect(t, madeAs(t, clone.New(c), spec), "cat deps/lib/a.txt", "two\n")

	expect(t, e, `cd deps/lib && git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m mine`, "")
	mine, err := e.Record(t.Context(), change.Commit, "mine\n")
	var missing *environment.SubmoduleError
	if err != nil || !mine.Changed || !errors.As(e.Submodules(t.Context(), mine.Commit), &missing) || !strings.Contains(missing.Error(), "does not have it") {
		t.Errorf("a commit that no server has: %+v, %v, %v", mine, err, missing)
	}
}

// The paths have a meaning for a shell, for git or for our own script.
func TestAPathOfASubmoduleIsNeverAnOption(t *testing.T) {
	t.Parallel()
	lib := newOrigin(t, filepath.Join(t.TempDir(), "lib"), map[string]string{"a.txt": "one\n"})
	p := environmenttest.NewProject(t)
	modules := ""
	paths := []string{"gone", "gone-too/gone", "x'*", "y b/$(touch ran)", "z:(top)"}
	for _, path := range paths {
		modules += "[submodule \"" + path + "\"]\n\tpath = " + path + "\n\turl = " + lib.Root + "\n"
		link(t, p, path, lib.Commit, modules)
	}
	// All have the objects of the first.
	if err := os.CopyFS(filepath.Join(p.Root, ".git", "modules", "gone"), os.DirFS(filepath.Join(lib.Root, ".git"))); err != nil {
		t.Fatal(err)
	}
	e := madeAs(t, clone.New(config(t, p)), p.Spec("site"))
	for _, path := range paths {
		expect(t, e, "cat '"+strings.ReplaceAll(path, "'", `'\''`)+"/a.txt'", "one\n")
	}
	expect(t, e, "find . -name ran", "")
}
