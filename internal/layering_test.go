// Package layering_test holds the layer table of the design against the code.
package layering_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// packages is the design's table "ground to roof": what each package may import
// of ours. "*" stands for every package; a pattern's last "/*" for any name.
var packages = map[string][]string{
	"lazy":                        {}, // patterns compiled on first use: every package may import it
	"workflow":                    {"workflow/await", "workflow/budget", "workflow/policy", "workflow/wording"},
	"workflow/await":              {},
	"workflow/budget":             {"workflow/wording"},
	"workflow/policy":             {"workflow/wording"},
	"workflow/wording":            {},
	"workflow/machine":            {"workflow", "workflow/await", "workflow/budget", "workflow/policy", "workflow/wording"},
	"health":                      {"workflow", "workflow/wording"},
	"registry":                    {"workflow", "workflow/wording"},
	"redact":                      {}, // whoever takes control characters out asks it: half a sequence left splits a secret that nothing finds again
	"redact/visible":              {"redact"},
	"flock":                       {}, // what every lock file of ours is held by
	"process":                     {},
	"process/processtest":         {},
	"config":                      {"permission"},                                       // whose patterns it takes
	"access":                      {"config", "flock", "language", "private", "redact"}, // who may use serve's pages and calls: it knows no page
	"access/oidc":                 {"access", "config"},                                 // a provider's part of the login
	"agreement":                   {"private"},                                          // what a person agreed to, kept outside every repository
	"private":                     {},                                                   // files of the user's own: it doesn't know what is in them
	"forge":                       {"redact"},
	"git":                         {"flock", "git/gitcmd", "process", "redact"},
	"git/gitcmd":                  {"flock", "process", "redact"},
	"agent":                       {"process", "redact"},
	"environment":                 {"process"},
	"agent/*":                     {"agent", "process"},
	"agent/jsonrpc":               {}, // acp, jsonrpc and pending are no drivers: they are what more than one of them speaks, or waits with
	"agent/jsonrpc/jsonrpctest":   {"process"},
	"agent/pending":               {"agent"},
	"agent/login":                 {"agent", "flock"}, // lends and takes back files: it is no driver, and starts nothing
	"agent/acp":                   {"agent", "agent/jsonrpc", "process"},
	"agent/acp/acptest":           {"agent/jsonrpc/jsonrpctest"},
	"agent/opencode":              {"agent", "agent/acp", "process"},
	"agent/gemini":                {"agent", "agent/acp", "process"},
	"agent/claude":                {"agent", "agent/pending", "process"},
	"agent/codex":                 {"agent", "agent/jsonrpc", "agent/pending", "process"},
	"environment/*":               {"environment", "git", "process"},
	"environment/cache":           {"flock"},
	"environment/clone":           {"environment", "environment/cache", "environment/clone/folder", "environment/clone/overlay", "environment/clone/plumbing", "environment/clone/sandbox", "environment/clone/submodule", "environment/egress", "flock", "git", "lazy", "process", "redact"}, // cache and egress are no drivers: they are what drivers keep, and leave open of the network
	"environment/clone/folder":    {},                                                                                                                                                                                                                                                         // folders in which strangers wrote
	"environment/clone/overlay":   {"environment/clone/folder", "environment/egress"},
	"environment/clone/sandbox":   {"environment/clone/overlay", "environment/clone/seccomp", "environment/egress", "process"},
	"environment/clone/plumbing":  {"environment", "git", "lazy", "process", "redact"},
	"environment/clone/submodule": {"environment", "environment/clone/folder", "environment/clone/plumbing", "environment/clone/sandbox", "environment/egress", "git", "lazy", "process", "redact"},
	"environment/clone/seccomp":   {}, // numbers in, a program for the kernel out
	"environment/egress":          {},
	"environment/detect":          {"redact"}, // reads what strangers wrote: it can start nothing and reach nothing
	"forge/*":                     {"forge"},
	"forge/local":                 {"forge", "git", "redact", "store"},
	"forge/gitea/giteatest":       {},                  // the server itself, for tests
	"owners":                      {},                  // what a repository's CODEOWNERS says: it reads no file
	"forge/joblog":                {"forge", "redact"}, // what logs of any CI have in common
	"forge/gitea":                 {"forge", "forge/joblog", "forge/rest"},
	"forge/github":                {"forge", "forge/joblog", "forge/rest"},
	"forge/gitlab":                {"forge", "forge/joblog", "forge/rest"},
	"forge/gitlab/gitlabtest":     {"forge/standin"},
	"forge/standin":               {},                                                            // what stand-ins for servers have in common: it knows nothing of ours
	"forge/rest":                  {"forge"},                                                     // what calls to any server have in common; it knows no vendor
	"forge/budget":                {"flock", "forge", "forge/rest"},                              // goes below any driver, and shares with other processes: it knows no vendor and no project
	"forge/hosted":                {"forge", "owners", "redact", "store"},                        // a server and the git half are interfaces to it: wire joins them
	"forge/github/githubtest":     {"forge/standin"},                                             // a stand-in for a server: it knows nothing of the driver
	"agent/agenttest":             {"agent", "agent/modeltest", "process"},                       // holds drivers to what their programs printed when they were recorded
	"agent/livetest":              {"agent", "agent/modeltest", "environment/egress", "process"}, // real programs, with a model and no other network
	"environment/environmenttest": {"environment", "environment/egress", "git", "process"},
	// The container driver is the clone driver with commands that run elsewhere: it keeps the work
	// folder through it, and reaches the inside and Docker through packages of their own.
	"environment/container": {"environment", "environment/cache", "environment/clone", "environment/container/engine", "environment/egress",
		"environment/execserver", "flock", "git", "process", "redact"},
	"environment/container/containertest": {},
	"environment/container/docker":        {"environment/container/engine"},
	"environment/container/engine":        {"environment", "process", "redact"}, // marks what it cuts of an output: by that a secret is known that was cut
	"environment/execserver":              {"environment/egress", "process", "redact"},
	"forge/forgetest":                     {"forge"},
	"forge/hostedtest":                    {"forge", "forge/forgetest", "forge/hosted", "forge/local", "forge/standin", "git", "process", "store"},                // as wire joins them, for tests
	"commandline":                         {"workflow", "redact"},                                                                                                 // a step in words; the published documents quote them, so it is no part of cli
	"store":                               {"commandline", "engine", "flock", "health", "lazy", "process", "registry", "store/strict", "store/watch", "workflow"}, // implements engine's interfaces; error.actions is published as lines
	"store/bundle":                        {"process", "store", "store/strict", "workflow"},                                                                       // a run as files: it knows no git and no forge
	"store/strict":                        {"workflow"},                                                                                                           // JSON and Go types: it knows no file
	"store/watch":                         {},                                                                                                                     // folders in, signals out
	"schema":                              {},
	"pipeline":                            {},
	"probe":                               {"workflow", "process", "redact"},                                                     // is a program inside environments, too: it can reach no document
	"heal":                                {"workflow", "health", "commandline", "store", "probe", "process", "redact", "forge"}, // carries no run itself: how one is executed is given to it
	"gateway":                             {"agent", "flock", "process"},                                                         // stands between an agent and its model: what it finds is told in the port's words; processes share a day under a lock
	"session":                             {"session/terminal", "flock", "process", "redact", "store"},                           // holds an agent's process; what environment it runs in is an Executor that cli hands in
	"session/terminal":                    {"redact"},                                                                            // bytes in, a screen, keys and an agent's markers out: it holds no process
	"language":                            {"workflow", "workflow/await"},                                                        // texts for people, for every front end
	"permission":                          {},                                                                                    // answers strangers' questions by patterns: text alone
	"engine":                              {"workflow", "workflow/machine"},                                                      // documents, locks and side effects are interfaces of its own: it knows no file and no program
	"engine/enginetest":                   {"engine", "workflow", "workflow/machine", "workflow/policy"},
	"perform":                             {"agent", "commandline", "engine", "environment", "forge", "git", "language", "lazy", "perform/announce", "perform/contract", "perform/inspect", "perform/report", "permission", "place", "process", "redact", "registry", "workflow", "workflow/await", "workflow/budget", "workflow/policy"},
	"perform/announce":                    {"commandline", "engine", "forge", "language", "redact", "registry", "workflow"},
	"perform/contract":                    {"redact", "schema", "workflow"},
	"perform/inspect":                     {"git", "perform/testcount", "redact", "workflow/policy"},
	"perform/report":                      {"commandline", "redact", "workflow"},
	"perform/testcount":                   {"git", "lazy", "workflow/policy"},
	"place":                               {"agent", "engine", "environment", "forge", "git", "process", "redact", "registry", "workflow", "workflow/budget", "workflow/machine"},
	"notify":                              {"process", "store", "workflow"},                                                                                                                                             // tells people elsewhere, once; what is worth telling is workflow's
	"serve":                               {"app", "app/background", "app/board", "app/healing", "app/intake", "config", "forge", "heal", "health", "notify", "problem", "process", "serve/trace", "store", "workflow"}, // keeps projects going: it executes no run
	"serve/trace":                         {"store", "workflow"},
	"tui":                                 {"app", "app/background", "app/board", "app/change", "app/transcript", "commandline", "language", "problem", "process", "redact", "workflow"},                                                                                                                                                     // the front end at a terminal
	"web":                                 {"access", "agent", "app", "app/background", "app/board", "app/change", "app/cost", "app/doctor", "app/environments", "app/healing", "app/history", "app/sessions", "commandline", "forge", "health", "language", "problem", "redact", "redact/visible", "registry", "store", "wire", "workflow"}, // the front end for browsers
	"mcp":                                 {"access", "app", "app/background", "app/environments", "commandline", "lazy", "problem", "redact", "redact/visible", "registry", "workflow"},                                                                                                                                                     // the front end for agents
	"containeruse":                        {"git"},                                                                                                                                                                                                                                                                                           // what another program's tools and refs say
	"mcp/wrap":                            {"containeruse"},                                                                                                                                                                                                                                                                                  // bytes pass; what they mean is recorded by what it is given
	"cli/tui":                             {"cli/beside", "cli/command", "problem"},
	"mcp/clients":                         {"problem"},                                                                                                                                                                                                                                   // other programs' configurations: it knows nothing of a project
	"problem":                             {"forge", "store"},                                                                                                                                                                                                                            // whose errors have a kind of end
	"wire":                                {"*"},                                                                                                                                                                                                                                         // builds what a configuration asks for, so it alone names drivers
	"wire/folder":                         {},                                                                                                                                                                                                                                            // files alone: nothing of a project is obeyed before its folder is known
	"wire/hosting":                        {"commandline", "config", "forge", "forge/budget", "forge/gitea", "forge/github", "forge/gitlab", "forge/hosted", "forge/local", "forge/rest", "perform", "problem", "process", "redact", "store"},                                            // the drivers of servers, who we are there, and whether tokens travel safely
	"app":                                 {"agent", "agreement", "commandline", "config", "engine", "forge", "git", "heal", "health", "lazy", "perform", "permission", "place", "problem", "process", "redact", "registry", "session", "session/terminal", "store", "wire", "workflow"}, // names no driver and prints nothing: wire has built what it uses
	"app/intake":                          {"app", "config", "engine", "forge", "forge/budget", "problem", "redact", "store", "store/strict", "workflow"},                                                                                                                                // takes orders from the forge; what carries the runs is handed in
	"app/board":                           {"app", "store", "workflow"},                                                                                                                                                                                                                  // what front ends show first
	"app/apptest":                         {"app", "redact"},
	"app/background":                      {"app", "problem", "process", "store", "workflow"}, // processes that outlive a front end
	"app/change":                          {"app", "problem", "redact", "wire", "workflow"},   // git's answer and a run's patches as lines: it judges nothing
	"app/cost":                            {"app", "wire", "workflow", "workflow/budget"},
	"app/history":                         {"app", "store", "wire", "workflow"}, // a run as it was: a pure fold of its transitions
	"app/transcript":                      {"agent", "app", "commandline"},      // what lines of logs say
	"app/starter":                         {"app", "config", "problem", "wire"},
	"app/environments":                    {"app", "commandline", "config", "containeruse", "environment", "environment/cache", "environment/detect", "forge", "git", "place", "problem", "process", "redact", "registry", "store", "wire", "workflow"},
	"app/healing":                         {"app", "config", "forge", "git", "heal", "health", "place", "problem", "redact", "store", "wire", "wire/folder", "workflow"},
	"app/sessions":                        {"agent", "app", "commandline", "config", "engine", "forge", "git", "perform", "place", "problem", "process", "redact", "registry", "session", "session/terminal", "store", "wire", "wire/folder", "workflow"},
	"app/ci":                              {"app", "app/intake", "engine", "forge", "git", "lazy", "place", "problem", "process", "registry", "store", "store/bundle", "wire", "workflow"}, // which of two states of a run counts
	"app/documents":                       {"app", "problem", "schema", "store", "store/strict"},
	"app/doctor":                          {"app", "agent", "commandline", "config", "environment", "forge", "git", "heal", "perform", "problem", "process", "redact", "wire", "workflow"}, // a use case too long for app
	// A noun of the command line parses, calls app and shows.
	"cli/command":  {"app", "commandline", "git/gitcmd", "problem", "process", "redact", "redact/visible", "store", "wire", "wire/folder", "workflow"},
	"cli/display":  {"agent", "app", "app/transcript", "cli/command", "commandline", "git", "pipeline", "problem", "redact", "redact/visible", "registry", "store", "wire", "workflow"},
	"cli/ci":       {"app", "app/ci", "app/intake", "cli/command", "cli/display", "pipeline", "redact"},
	"cli/document": {"app/documents", "cli/command", "problem", "redact", "redact/visible", "schema", "store"},
	"cli/env":      {"app", "app/environments", "cli/command", "cli/display", "commandline", "config", "containeruse", "environment/cache", "environment/detect", "place", "problem", "process", "redact", "registry", "wire", "workflow"},
	"cli/forge":    {"app", "app/intake", "cli/command", "cli/display", "commandline", "redact", "workflow"},
	"cli/heal":     {"app", "app/healing", "cli/command", "cli/display", "commandline", "forge", "git", "heal", "health", "pipeline", "probe", "problem", "process", "redact", "store", "wire", "workflow"},
	"cli/beside":   {"problem"}, // becomes another program of ours
	"cli/mcp":      {"app/environments", "cli/beside", "cli/command", "mcp/clients", "mcp/wrap", "problem", "redact"},
	"cli/serve":    {"cli/beside"},
	"cli/issue":    {"app", "cli/command", "cli/display", "problem", "redact", "registry", "store", "wire"},
	"cli/run":      {"app", "app/cost", "cli/command", "cli/display", "commandline", "forge", "problem", "process", "redact", "registry", "wire", "workflow"},
	"cli/session":  {"agent", "app", "app/sessions", "cli/command", "cli/display", "commandline", "problem", "redact", "registry", "session", "session/terminal", "wire", "wire/folder", "workflow"},
	"cli":          {"app", "app/doctor", "app/starter", "cli/ci", "cli/command", "cli/document", "cli/env", "cli/forge", "cli/heal", "cli/issue", "cli/mcp", "cli/run", "cli/serve", "cli/session", "cli/tui", "commandline", "config", "engine", "git/gitcmd", "notify", "problem", "process", "redact", "session", "session/terminal", "wire"},
	"cmd/*":        {"*"},
}

var (
	ports = []string{"agent", "environment", "forge"}
	faces = []string{"cli", "tui", "web", "mcp", "serve"}
	// vague names say nothing of what is inside.
	vague = []string{"util", "utils", "common", "helpers", "helper", "manager", "types", "misc", "shared"}
	// pure is the part of the standard library, and of others, whose answers depend on arguments alone.
	pure = []string{"bytes", "cmp", "crypto/sha256", "encoding/json", "errors", "fmt", "iter", "maps", "math", "path", "slices", "sort", "sync", // for what is made when it is first asked
		"strconv", "strings", "time", "unicode", "unicode/utf8",
		"io", "mvdan.cc/sh/v3/syntax", "mvdan.cc/sh/v3/expand"} // of a shell's words, with variables and commands answered by the caller
	// clocks are the packages that may look at the time themselves.
	clocks = []string{"app", "app/environments", "cli", "cli/command", "cli/display", "cli/document", "cli/env", "cli/forge", "cli/heal", "cli/issue", "cli/mcp", "cli/run", "cli/session", "process", "wire"}
)

// source is one parsed Go file of ours.
type source struct {
	name string // relative to the module's root
	pkg  string // the package, as in the table
	test bool
	file *ast.File
}

func TestLayering(t *testing.T) {
	t.Parallel()
	root := os.DirFS("..")
	module := moduleName(t, root)
	files := sources(t, root)
	if len(files) < 20 {
		t.Fatalf("only %d files found: this test is looking in the wrong place", len(files))
	}
	for _, s := range files {
		for _, problem := range s.problems(module) {
			t.Errorf("%s: %s", s.name, problem)
		}
	}
}

func moduleName(t *testing.T, root fs.FS) string {
	t.Helper()
	mod, err := fs.ReadFile(root, "go.mod")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(mod), "\n")
	return strings.TrimPrefix(strings.TrimSpace(first), "module ")
}

func sources(t *testing.T, root fs.FS) (found []source) {
	t.Helper()
	for _, top := range []string{"internal", "cmd"} {
		err := fs.WalkDir(root, top, func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() && entry.Name() == "testdata" {
				return fs.SkipDir
			}
			if entry.IsDir() || path.Ext(name) != ".go" {
				return nil
			}
			text, err := fs.ReadFile(root, name)
			if err != nil {
				return err
			}
			s, err := parsed(name, text)
			found = append(found, s)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func parsed(name string, text []byte) (source, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	pkg := strings.TrimPrefix(path.Dir(name), "internal/")
	return source{name: name, pkg: pkg, test: strings.HasSuffix(name, "_test.go"), file: file}, err
}

func (s source) problems(module string) []string {
	if path.Dir(s.name) == "internal" {
		if s.test {
			return nil
		}
		return []string{"code belongs into a package of its own, not into internal itself"}
	}
	var found []string
	if _, ok := allowed(s.pkg); !ok {
		found = append(found, fmt.Sprintf("package %s is not in the layer table: give it a row in packages", s.pkg))
	}
	if name := path.Base(s.pkg); slices.Contains(vague, name) {
		found = append(found, fmt.Sprintf("package name %q says nothing of what is inside", name))
	}
	for _, spec := range s.file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return append(found, err.Error())
		}
		if rule := s.forbids(module, name); rule != "" {
			found = append(found, fmt.Sprintf("imports %s: %s", name, rule))
		}
	}
	return append(found, s.calls()...)
}
