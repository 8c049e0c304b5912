package detect_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/environment/detect"
)

// bombs are small files that some parser takes for large ones.
func bombs() map[string]string {
	const n = 32 << 10
	aliases := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'j'; c++ {
		p := c - 1
		aliases += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, p, p, p, p, p, p, p, p, p)
	}
	laughs := "<!DOCTYPE l [<!ENTITY a \"lol\">"
	for c := 'b'; c < 'j'; c++ {
		laughs += fmt.Sprintf("<!ENTITY %c \"%s\">", c, strings.Repeat(fmt.Sprintf("&%c;", c-1), 10))
	}
	many := strings.Repeat("t ", 20_000)
	return map[string]string{
		"docker-compose.yml":                        aliases + "services: {a: {image: *i}}\n",
		"environment.yml":                           aliases + "dependencies: [" + strings.Repeat("*i,", 20_000) + "]\n",
		"condaenv.yaml":                             "dependencies:\n" + strings.Repeat(" -", n/2),
		".github/workflows/copilot-setup-steps.yml": aliases + "jobs: {copilot-setup-steps: {steps: *i}}\n",
		"pom.xml":                                   laughs + "]><project><dependencies><dependency><groupId>&i;</groupId></dependency></dependencies></project>",
		"a/pom.xml":                                 "<project>" + strings.Repeat("<a>", n/3),
		"pyproject.toml":                            "a" + strings.Repeat(".a", n/2) + "=1",
		"a/pyproject.toml":                          "a=" + strings.Repeat("[", n),
		"Pipfile":                                   "a=" + strings.Repeat("{a=", n/3),
		"mise.toml":                                 strings.Repeat("[[tools]]\n", n/10),
		"package.json":                              strings.Repeat(`{"dependencies":`, n/16),
		"a/package.json":                            strings.Repeat("[", n),
		".devcontainer/devcontainer.json":           strings.Repeat("/*", n/4) + strings.Repeat(`"\`, n/4),
		".devcontainer.json":                        `{"postCreateCommand":` + strings.Repeat(`{"a":`, n/5),
		"go.mod":                                    strings.Repeat("(\n", n/2),
		"a/go.mod":                                  "module a\nrequire (\n" + strings.Repeat("a.b/c v1.0.0\n", n/13-2) + ")\n",
		"requirements.txt":                          strings.Repeat("-r requirements.txt\n", n/20),
		"a/requirements.txt":                        strings.Repeat("a[", n/2),
		"setup.py":                                  strings.Repeat("install_requires=['a',", n/22),
		"build.gradle":                              strings.Repeat("implementation('a:b:", n/20),
		"Makefile":                                  many + ": " + many[:10_000] + "\n" + strings.Repeat("\tx\n", 10_000),
		"makefile":                                  "setup: setup\n" + strings.Repeat("a: b\nb: a\n", n/10),
		"AGENTS.md":                                 strings.Repeat("```sh\n# Set up\n", n/20),
		"Dockerfile":                                strings.Repeat("FROM a AS b\n", n/12),
		".tool-versions":                            strings.Repeat("go 1\n", n/5),
		".nvmrc":                                    strings.Repeat("1", n),
		".gitignore":                                strings.Repeat("/", n),
	}
}

// A bomb that goes off takes all memory, or runs until the tests end.
func TestBombsDoNotGoOff(t *testing.T) {
	t.Parallel()
	all := tree(bombs())
	r := all.look(t, "")
	for _, name := range []string{"docker-compose.yml", "condaenv.yaml", "pom.xml", "a/pom.xml", "a/pyproject.toml", "Pipfile",
		"package.json", "a/package.json", ".github/workflows/copilot-setup-steps.yml"} {
		if i := slices.IndexFunc(r.Files, func(f detect.File) bool { return f.Path == name }); i < 0 || r.Files[i].Problem == "" {
			t.Errorf("%s has no problem", name)
		}
	}
	if len(r.Dependencies) > 5000 || len(r.Notes) > 50 {
		t.Errorf("%d dependencies, %d notes", len(r.Dependencies), len(r.Notes))
	}
}

func TestHostileNamesBecomeNoCommandAndNoLine(t *testing.T) {
	t.Parallel()
	good := `{"dependencies": {"a": "1"}}`
	hostile := tree{"ok/package.json": good, "it is/package.json": good, "日本/package.json": good, "../package.json": good, "/package.json": good}
	odd := []string{"a\nb", "a\x1b[31mb", "-rf", "$(id)", "`id`", "a'b", `a"b`, "a;b", "a&b", "a|b", "a>b", "a\\b", "a*b", "~root", "#a", "!a", "a\u202eb", "a\x00b", "\xff",
		strings.Repeat("x", 300), "ok/-rf", " a"}
	for _, dir := range odd {
		hostile[dir+"/package.json"] = good
	}
	hostile[strings.Repeat("d/", 30)+"package.json"] = good
	r := hostile.look(t, "")
	want := []string{"(cd ok && npm install --no-package-lock)", "(cd 'it is' && npm install --no-package-lock)", "(cd '日本' && npm install --no-package-lock)"}
	got := slices.DeleteFunc(slices.Clone(r.SetUp), func(c string) bool { return strings.Contains(c, "gitignore") })
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("setup %q, want %q", got, want)
	}
	if len(r.Notes) != len(odd)+1 { // "/"; ".." is passed over like every hidden folder
		t.Errorf("%d notes for %d names: %q", len(r.Notes), len(odd)+1, r.Notes)
	}
	for _, line := range append(r.Notes, r.Reason) {
		if strings.ContainsAny(line, "\n\x1b\x00") {
			t.Errorf("%q is not one plain line", line)
		}
	}
}

func TestCommandsWithHiddenCharactersAreLeftOut(t *testing.T) {
	t.Parallel()
	many, _ := json.Marshal(strings.Repeat("x", 5000))
	r := tree{"package.json": `{"dependencies": {"a": "1"}}`, ".devcontainer.json": `{"image": "a\nb\u001b[2J", "postCreateCommand": {
		"a": "npm ci", "b": "npm ci \u202e # ;di", "c": "npm \u001b[8m x", "d": "npm\u0000", "e": ` + string(many) + `}}`}.look(t, "")
	if len(r.Descriptions) != 1 || !slices.Equal(r.Descriptions[0].Commands, []string{"npm ci"}) || r.Descriptions[0].Image != "a b" {
		t.Errorf("got %+q", r.Descriptions)
	}
	if len(r.Notes) != 4 {
		t.Errorf("notes %q", r.Notes)
	}
}

// endless claims to be a file of 1 GB, and counts what is asked for.
type endless struct {
	tree
	asked map[string]int64
}

var paddedLine = "#" + strings.Repeat("x", 1022) + "\n" // 1 KiB

func (e endless) Read(ctx context.Context, name string, limit int64) ([]byte, error) {
	e.asked[name] = limit
	switch name {
	case "broken.txt", "requirements.txt":
		return nil, errors.New("read: no\x1b such luck")
	case "package-lock.json", "go.mod", "requirements-dev.txt":
		return []byte(strings.Repeat(paddedLine, int(min(limit, 1<<30))>>10+1)[:min(limit, 1<<30)]), nil
	}
	return e.tree.Read(ctx, name, limit)
}

func TestLargeAndUnreadableFilesAreNotedAndBounded(t *testing.T) {
	t.Parallel()
	files := endless{tree{"package-lock.json": "", "go.mod": "", "requirements.txt": "", "requirements-dev.txt": "", "package.json": `{"dependencies": {"a": "1"}}`,
		"big/package.json": `{"dependencies": {"a": "1"}}` + strings.Repeat(" ", 300<<10)}, map[string]int64{}}
	r, err := detect.Detect(t.Context(), files, detect.Catalogue(nil), "node")
	if err != nil || r.Environment != detect.Node || !slices.Contains(r.SetUp, "npm ci") {
		t.Fatalf("%s, %q, %v", r.Environment, r.SetUp, err)
	}
	for name, limit := range files.asked {
		if limit > 64<<20+1 {
			t.Errorf("%s: asked for %d bytes", name, limit)
		}
	}
	for _, f := range r.Files {
		if sum := sha256.Sum256([]byte(strings.Repeat(paddedLine, 64<<10))); f.Path == "package-lock.json" && f.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: digest %s", f.Path, f.SHA256)
		}
		if large := f.Path != "package.json"; (f.Problem != "") != large || len(f.Content) > 64<<10+100 || strings.HasSuffix(f.Content, "… (cut here: only the first 64 KiB are shown)\n") != (large && f.Content != "") || strings.Contains(f.Problem, "\x1b") {
			t.Errorf("%s: problem %q, %d bytes of content", f.Path, f.Problem, len(f.Content))
		}
	}
}

func TestNotMoreFilesAreReadThanAProjectHas(t *testing.T) {
	t.Parallel()
	many := tree{"go.mod": "module a\nrequire a.b/c v1.0.0\n", "z/go.sum": ""}
	for i := range 5000 {
		many[fmt.Sprintf("p%04d/package.json", i)] = `{"dependencies": {"a": "1", "b": "1"}}`
	}
	r := many.look(t, "go")
	if len(r.Files) != 200 || r.Files[0].Path != "go.mod" || r.Environment != detect.Go {
		t.Errorf("%d files, first %s, environment %s", len(r.Files), r.Files[0].Path, r.Environment)
	}
	if r = many.look(t, "node"); len(r.SetUp) > 20 {
		t.Errorf("%d commands", len(r.SetUp))
	}
}

type silent struct{}

func (silent) List(context.Context) ([]string, error)              { return nil, fs.ErrPermission }
func (silent) Read(context.Context, string, int64) ([]byte, error) { return nil, fs.ErrPermission }

func TestErrorsOfTheCallerAreErrors(t *testing.T) {
	t.Parallel()
	if _, err := detect.Detect(t.Context(), silent{}, detect.Catalogue(nil), ""); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("no list: %v", err)
	}
	if _, err := detect.Detect(t.Context(), tree{}, nil, ""); err == nil {
		t.Error("an empty catalogue is no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := detect.Detect(ctx, tree{"go.mod": ""}, detect.Catalogue(nil), ""); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func FuzzDetect(f *testing.F) {
	names := slices.Sorted(maps.Keys(bombs()))
	texts := []string{"", "a", "{}", "[a]\nb=1", "module a", "<project/>", "a:\n\tb", "FROM a", `{"image": "a", /* */ }`, "a==1 # b", "\ufeff{}", "```sh\na\n```"}
	for i := range names {
		f.Add(byte(i), byte(i+1), texts[i%len(texts)])
	}
	f.Fuzz(func(t *testing.T, first, second byte, text string) {
		r := tree{names[int(first)%len(names)]: text, names[int(second)%len(names)]: text}.look(t, "")
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var again detect.Result
		if err := json.Unmarshal(data, &again); err != nil {
			t.Fatal(err)
		}
		if shown(again) != shown(r) {
			t.Errorf("written and read it is\n%s\nit was\n%s", shown(again), shown(r))
		}
	})
}
