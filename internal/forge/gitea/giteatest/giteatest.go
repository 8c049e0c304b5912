// Package giteatest starts a real Gitea on loopback for tests, with its data in a temporary folder. scripts/gitea.sh builds it.
package giteatest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Programs is the variable with the folder that scripts/gitea.sh prints.
const Programs = "SIGNALBOX_GITEA"

// Server is a running Gitea.
type Server struct {
	URL string
	// Token is of the administrator Boss.
	Token string
	// Dir holds everything that the server and its runner write.
	Dir      string
	programs string
	ended    []chan struct{}
	started  []*os.Process
}

// Boss is the administrator's name.
const Boss = "boss"

// password is that of every account. The server listens on loopback and lives as long as the tests.
const password = "a-password-for-tests"

// settings are app.ini: nothing is mailed, indexed, cached on disk or looked for in the network.
const settings = `WORK_PATH = %[1]s
RUN_USER = %[2]s
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = %[3]d
ROOT_URL = http://127.0.0.1:%[3]d/
DISABLE_SSH = true
OFFLINE_MODE = true
LFS_START_SERVER = false
[database]
DB_TYPE = sqlite3
PATH = %[1]s/db
SQLITE_JOURNAL_MODE = WAL
[security]
INSTALL_LOCK = true
INTERNAL_TOKEN = %[4]s
PASSWORD_HASH_ALGO = pbkdf2$1$16
[oauth2]
JWT_SECRET = %[5]s
[service]
DISABLE_REGISTRATION = true
[indexer]
ISSUE_INDEXER_TYPE = db
[queue]
TYPE = channel
[git.config]
core.fsync = none
gc.auto = 0
receive.autogc = false
[actions]
ENABLED = true
DEFAULT_ACTIONS_URL = self
[webhook]
ALLOWED_HOST_LIST = loopback
[cron.update_checker]
ENABLED = false
[log]
LEVEL = error
`

// Start starts the server and returns when it answers. The caller stops it.
func Start(ctx context.Context, programs string) (*Server, error) {
	dir, err := os.MkdirTemp("", "gitea-")
	if err != nil {
		return nil, err
	}
	s := &Server{Dir: dir, programs: programs}
	if err := errors.Join(s.dress(), s.start(ctx)); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "web.log"))
		return nil, errors.Join(fmt.Errorf("start gitea: %w\n%s", err, log), s.Stop())
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) error {
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	s.URL = fmt.Sprintf("http://127.0.0.1:%d", port)
	who, err := exec.CommandContext(ctx, "id", "-un").Output()
	if err != nil {
		return err
	}
	ini := fmt.Sprintf(settings, s.Dir, strings.TrimSpace(string(who)), port, secret(), secret())
	if err := os.WriteFile(s.config(), []byte(ini), 0o600); err != nil {
		return err
	}
	if err := s.run(nil, "web.log", "gitea", "--config", s.config(), "web"); err != nil {
		return err
	}
	if err := s.await(ctx); err != nil {
		return err
	}
	out, err := s.gitea(ctx, "admin", "user", "create", "--admin", "--username", Boss, "--password", password, "--email", Boss+"@example.org",
		"--must-change-password=false", "--access-token", "--access-token-name", "tests", "--access-token-scopes", "all")
	if err != nil {
		return err
	}
	words := strings.Fields(out)
	s.Token = words[len(words)-1]
	return nil
}

// dress gives the pages their styles and scripts, if scripts/pictures.sh built them beside the programs.
func (s *Server) dress() error {
	assets := filepath.Join(s.programs, "assets")
	if _, err := os.Stat(assets); err != nil {
		return nil
	}
	public := filepath.Join(s.Dir, "custom", "public")
	return errors.Join(os.MkdirAll(public, 0o700), os.Symlink(assets, filepath.Join(public, "assets")))
}

func (s *Server) config() string { return filepath.Join(s.Dir, "app.ini") }

// freePort returns a port of loopback that no one listens at.
func freePort(ctx context.Context) (int, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// secret is base64 of 32 random bytes, as Gitea wants it.
func secret() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // it never fails
	return base64.RawURLEncoding.EncodeToString(raw)
}

// environ has Gitea collect no garbage: it is started for each push, and the tests end soon.
func (s *Server) environ() []string {
	return []string{"GOGC=off", "GOMEMLIMIT=300MiB", "PATH=" + os.Getenv("PATH"), "HOME=" + s.Dir, "GITEA_WORK_DIR=" + s.Dir, "TMPDIR=" + s.Dir, "GIT_CONFIG_NOSYSTEM=1"}
}

// run starts a program that ends with this process, even if this process is killed.
func (s *Server) run(env []string, log, program string, args ...string) error {
	out, err := os.Create(filepath.Join(s.Dir, log)) //nolint:gosec // in our own folder
	if err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(s.programs, program), args...) //nolint:gosec,noctx // it lives as long as the tests
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.Dir, append(s.environ(), env...), out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	began, ended := make(chan error, 1), make(chan struct{})
	go func() {
		runtime.LockOSThread() // the kernel kills the program when the thread that started it ends
		defer close(ended)
		err := cmd.Start()
		began <- err
		if err == nil {
			_ = cmd.Wait()
		}
		_ = out.Close()
	}()
	if err := <-began; err != nil {
		return err
	}
	s.started, s.ended = append(s.started, cmd.Process), append(s.ended, ended)
	return nil
}

// await returns when the server answers.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/api/healthz", nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return errors.New("it does not answer")
		case <-s.ended[0]:
			return errors.New("it ended")
		case <-tick.C:
		}
	}
}

// gitea runs one of Gitea's own commands.
func (s *Server) gitea(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(s.programs, "gitea"), append([]string{"--config", s.config()}, args...)...) //nolint:gosec // of the tests
	cmd.Dir, cmd.Env = s.Dir, s.environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("gitea %s: %w\n%s", args[0], err, out)
	}
	return string(out), nil
}

// Stop ends all programs and removes the folder.
func (s *Server) Stop() error {
	for _, p := range s.started {
		_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	}
	for _, ended := range s.ended {
		<-ended
	}
	return os.RemoveAll(s.Dir)
}

// Lossy starts a proxy before the server. A change that is to be lost is performed, and the connection cut instead of answering. The caller closes it.
func (s *Server) Lossy(lose func(*http.Request) bool) (*httptest.Server, error) {
	to, err := url.Parse(s.URL)
	if err != nil {
		return nil, err
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || strings.HasSuffix(r.URL.Path, "/git-upload-pack") || !lose(r) {
			proxy.ServeHTTP(w, r)
			return
		}
		proxy.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})), nil
}

// Call calls the API below /api/v1/ with a token, or with name and password if it is empty and the path names a user's tokens.
func (s *Server) Call(ctx context.Context, token, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, s.URL+"/api/v1/"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if token == "" {
		req.SetBasicAuth(strings.Split(path, "/")[1], password)
	} else {
		req.Header.Set("Authorization", "token "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %d %s", method, path, resp.StatusCode, answer)
	}
	if err == nil && out != nil {
		err = json.Unmarshal(answer, out)
	}
	return err
}

// User makes an account and returns a token of it. Scopes are as Gitea names them; none means all that a repository needs.
func (s *Server) User(ctx context.Context, name string, scopes ...string) (token string, err error) {
	if len(scopes) == 0 {
		scopes = []string{"write:repository", "write:issue", "read:user"}
	}
	err = s.Call(ctx, s.Token, http.MethodPost, "admin/users", map[string]any{"username": name, "email": name + "@example.org", "password": password,
		"must_change_password": false}, nil)
	var made struct {
		SHA1 string `json:"sha1"`
	}
	if err == nil {
		err = s.Call(ctx, "", http.MethodPost, "users/"+name+"/tokens", map[string]any{"name": "tests", "scopes": scopes}, &made)
	}
	return made.SHA1, err
}

// Repository makes a repository with one commit on main.
func (s *Server) Repository(ctx context.Context, owner, name string) error {
	return s.Call(ctx, s.Token, http.MethodPost, "admin/users/"+owner+"/repos", map[string]any{"name": name, "default_branch": "main", "auto_init": true}, nil)
}

// Unguard removes the hooks that keep people from pushing what they may not: a push starts Gitea three times, each time for 0.15 s of CPU, and these are two.
func (s *Server) Unguard(owner, name string) error {
	hooks := filepath.Join(s.Dir, "data", "gitea-repositories", owner, name+".git", "hooks")
	return errors.Join(os.Remove(filepath.Join(hooks, "pre-receive")), os.Remove(filepath.Join(hooks, "update")))
}

// runnerSettings let jobs run on this machine, and look for them often.
const runnerSettings = `log: {level: warn}
runner: {capacity: 2, fetch_interval: 500ms, fetch_interval_max: 1s, labels: ["host:host", "ubuntu-latest:host"]}
cache: {enabled: false}
`

// Runner starts a runner of Actions that runs jobs on this machine: those that say "runs-on: host", and those that want Ubuntu. Jobs find
// programs in these folders first.
func (s *Server) Runner(ctx context.Context, folders ...string) error {
	out, err := s.gitea(ctx, "actions", "generate-runner-token")
	if err != nil {
		return err
	}
	lines := strings.Fields(out)
	config := filepath.Join(s.Dir, "runner.yaml")
	if err := os.WriteFile(config, []byte(runnerSettings), 0o600); err != nil {
		return err
	}
	register := exec.CommandContext(ctx, filepath.Join(s.programs, "gitea-runner"), "-c", config, "register", "--no-interactive", //nolint:gosec // of the tests
		"--instance", s.URL, "--token", lines[len(lines)-1])
	register.Dir, register.Env = s.Dir, s.environ()
	if out, err := register.CombinedOutput(); err != nil {
		return fmt.Errorf("register the runner: %w\n%s", err, out)
	}
	path := "PATH=" + strings.Join(append(folders, os.Getenv("PATH")), ":")
	return s.run([]string{path}, "runner.log", "gitea-runner", "-c", config, "daemon")
}
