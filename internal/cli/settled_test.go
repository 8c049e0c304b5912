package cli_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mustBeMerged holds a project to all that was promised once the requests 1 to
// n are carried out, whatever died on the way: one merge and one pull record
// for each, and nothing left over.
func (p *project) mustBeMerged(n int) {
	p.Helper()
	p.mustLeaveNothing()
	p.mustBeSound()
	p.mustHaveOneMergeEach(n)
	documents := p.documents()
	for i := 1; i <= n; i++ {
		p.mustBeDocumented(documents, i)
	}
}

// mustHaveOneMergeEach looks at the base branch: per request a merge commit on
// the first-parent line and three commits beside it, all on the remote as well.
func (p *project) mustHaveOneMergeEach(n int) {
	p.Helper()
	if merges := strings.Fields(p.git("rev-list", "--first-parent", "--merges", "main")); len(merges) != n {
		p.Errorf("%d merge commits, want %d", len(merges), n)
	}
	if commits := p.git("rev-list", "--count", "main"); commits != strconv.Itoa(1+4*n) {
		p.Errorf("%s commits on main, want %d:\n%s", commits, 1+4*n, p.git("log", "--oneline", "--graph", "main"))
	}
	for i := 1; i <= n; i++ {
		if got := p.git("show", fmt.Sprintf("main:greet-%d.sh", i)); got != fmt.Sprintf("# Says hello.\necho hello %d", i) {
			p.Errorf("greet-%d.sh is %q", i, got)
		}
	}
	if added := strings.Fields(p.git("diff", "--name-only", p.git("rev-list", "--max-parents=0", "main"), "main")); len(added) != 2*n {
		p.Errorf("main changed %q, want two files for each of %d requests", added, n)
	}
	if p.git("remote") != "" {
		if here, there := p.git("rev-parse", "main"), p.git("ls-remote", "origin", "refs/heads/main"); !strings.HasPrefix(there, here) {
			p.Errorf("main is %s here and %q on the remote", here, there)
		}
	}
}

// mustBeSound looks at the repository and its checkout.
func (p *project) mustBeSound() {
	p.Helper()
	if said := p.git("fsck", "--strict", "--no-dangling", "--no-progress"); said != "" {
		p.Errorf("git fsck: %s", said)
	}
	if status := p.git("status", "--porcelain"); status != "" {
		p.Errorf("the checkout is not clean:\n%s", status)
	}
	index := "GIT_INDEX_FILE=" + filepath.Join(p.TempDir(), "index") // knows no file's time, so every content is compared
	p.gitWith([]string{index}, "read-tree", "HEAD")
	if status := p.gitWith([]string{index}, "status", "--porcelain"); status != "" {
		p.Errorf("the files of the checkout are not those of HEAD:\n%s", status)
	}
	if head := p.git("symbolic-ref", "HEAD"); head != "refs/heads/main" {
		p.Errorf("HEAD is %s", head)
	}
	if left := p.git("for-each-ref", "refs/heads/signalbox", "refs/signalbox/import"); left != "" {
		p.Errorf("refs are left:\n%s", left)
	}
}

// leftover matches names of files that are there only while somebody works.
var leftover = regexp.MustCompile(`/\.tmp-[^/]*$|\.new$|/\.(new|old)-[^/]*$|/\.git/(.*/)?(index|HEAD|config|packed-refs|[^/]*/.*)\.lock$|/\.worktrees/issue-[^/]*$|/\.signalbox/environments/[^c].*|/reset\.pack$|/signalbox-no-index`)

// kept matches the folders of environments that are kept for later ones.
var kept = regexp.MustCompile(`/\.signalbox/environments/cache/[0-9a-f][^/]*$`)

// mustLeaveNothing looks for what should have gone: processes, temporary files, clones, held locks.
func (p *project) mustLeaveNothing() {
	p.Helper()
	if alive := p.processes(); len(alive) > 0 {
		p.Errorf("processes are left: %q", alive)
	}
	err := filepath.WalkDir(p.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if leftover.MatchString(path) {
			p.Errorf("left over: %s", path)
		}
		if entry.IsDir() && kept.MatchString(path) { // whatever a project's files are called
			return fs.SkipDir
		}
		if name := entry.Name(); strings.HasSuffix(name, ".lock") && entry.Type().IsRegular() {
			p.mustBeUnlocked(path)
		}
		return nil
	})
	if err != nil {
		p.Error(err)
	}
	if mounts, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(mounts), " "+p.dir+"/") {
		p.Errorf("mounts are left: %v\n%s", err, mounts)
	}
}

func (p *project) mustBeUnlocked(path string) {
	p.Helper()
	file, err := os.Open(path)
	if err != nil {
		p.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		p.Errorf("%s is locked: %v", path, err)
	}
}

// processes are those that have to do with the project: they are in it, or name
// it or one of its runs in their arguments or variables.
func (p *project) processes() (alive []string) {
	p.Helper()
	marks := [][]byte{[]byte(p.dir + "/"), []byte(p.dir + "\x00")}
	for _, run := range p.stages() {
		marks = append(marks, []byte("SIGNALBOX_RUN_ID="+run.RunID+"\x00"))
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		p.Fatal(err)
	}
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err != nil || pid == os.Getpid() {
			continue
		}
		proc := "/proc/" + entry.Name() + "/"
		arguments, _ := os.ReadFile(proc + "cmdline")
		variables, _ := os.ReadFile(proc + "environ")
		cwd, _ := os.Readlink(proc + "cwd")
		root, _ := os.Readlink(proc + "root")
		all := slices.Concat(arguments, []byte{0}, variables, []byte{0}, []byte(cwd+"\x00"+root+"\x00"))
		if slices.ContainsFunc(marks, func(mark []byte) bool { return bytes.Contains(all, mark) }) {
			alive = append(alive, entry.Name()+" "+string(bytes.ReplaceAll(arguments, []byte{0}, []byte(" "))))
		}
	}
	return alive
}
