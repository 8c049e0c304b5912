package policy

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestInspectOneFile(t *testing.T) {
	t.Parallel()
	const passes, flagged, refused = "passes", "needs a person", "is refused"
	for _, test := range []struct {
		name string
		file FileChange
		want string
	}{
		{"an ordinary file", FileChange{Path: "internal/parse.go", NewMode: "100644", Added: 3}, passes},
		{"a binary file", FileChange{Path: "logo.png", NewMode: "100644", Added: -1, Deleted: -1}, passes},
		{"a name in any script", FileChange{Path: "docs/仕様.md"}, passes},
		{"a name with a dash first", FileChange{Path: "-n"}, passes},
		{"an ignore file", FileChange{Path: ".gitignore"}, passes},
		{"a name that only begins like git's", FileChange{Path: ".github-notes/x"}, passes},
		{"a name that only ends like git's", FileChange{Path: "a.git/x"}, passes},
		{"a project's own folder of runs", FileChange{Path: "runs/2026/results.csv"}, passes},
		{"a file of 50 MiB", FileChange{Path: "model.bin", Size: 50 << 20}, passes},
		{"a symlink made a file", FileChange{Path: "a", OldMode: "120000", NewMode: "100644"}, passes},

		{"a workflow of the forge", FileChange{Path: ".github/workflows/ci.yml"}, flagged},
		{"the same in capitals", FileChange{Path: ".GitHub/workflows/ci.yml"}, flagged},
		{"a deleted workflow", FileChange{Path: ".github/workflows/ci.yml", OldMode: "100644", NewMode: "000000"}, flagged},
		{"another forge's pipeline", FileChange{Path: ".gitlab-ci.yml"}, flagged},
		{"attributes, which name filters", FileChange{Path: "sub/.gitattributes"}, flagged},
		{"modules, which name addresses", FileChange{Path: ".gitmodules"}, flagged},
		{"instructions for agents", FileChange{Path: "AGENTS.md"}, flagged},
		{"the same for one folder", FileChange{Path: "pkg/claude.md"}, flagged},
		{"an agent's settings", FileChange{Path: "pkg/.claude/settings.json"}, flagged},
		{"servers for agents", FileChange{Path: ".mcp.json"}, flagged},
		{"an editor's tasks", FileChange{Path: ".vscode/tasks.json"}, flagged},
		{"a commit hook", FileChange{Path: ".husky/pre-commit"}, flagged},
		{"who must review", FileChange{Path: ".github/CODEOWNERS"}, flagged},
		{"a symbolic link", FileChange{Path: "link", NewMode: "120000"}, flagged},
		{"the file by which git knows a bare repository", FileChange{Path: "fixtures/repo/HEAD"}, flagged},
		{"the same on a file system without cases", FileChange{Path: "fixtures/repo/head"}, flagged},
		{"an embedded repository", FileChange{Path: "vendor/x", NewMode: "160000"}, flagged},
		{"a removed embedded repository", FileChange{Path: "vendor/x", OldMode: "160000", NewMode: "000000"}, flagged},

		{"git's own folder", FileChange{Path: ".git/config"}, refused},
		{"the same in capitals", FileChange{Path: ".GIT/config"}, refused},
		{"the same deeper", FileChange{Path: "a/b/.Git/hooks/pre-commit"}, refused},
		{"the same with a dot that Windows drops", FileChange{Path: ".git./x"}, refused},
		{"the same with a space that Windows drops", FileChange{Path: ".git /x"}, refused},
		{"the same by its short name", FileChange{Path: "git~1/x"}, refused},
		{"the same as a stream", FileChange{Path: ".git::$INDEX_ALLOCATION/config"}, refused},
		{"the same behind a backslash", FileChange{Path: `a\.git\config`}, refused},
		{"the same with a character that macOS drops", FileChange{Path: ".g\u200cit/config"}, refused},
		{"a link of git's name", FileChange{Path: ".git", NewMode: "120000"}, refused},
		{"a way out", FileChange{Path: "a/../../x"}, refused},
		{"a line break in a name", FileChange{Path: "a\nb"}, refused},
		{"an escape in a name", FileChange{Path: "a\x1b[2Jb"}, refused},
		{"a C1 control in a name", FileChange{Path: "a\u009bb"}, refused},
		{"a name that is no UTF-8", FileChange{Path: "a\xffb"}, refused},
		{"a file of 60 MiB", FileChange{Path: "model.bin", Size: 60 << 20}, refused},
		{"Signalbox's own folder", FileChange{Path: ".signalbox/config.yaml"}, refused},
		{"the same with a dot that Windows drops", FileChange{Path: ".Signalbox./config.yaml"}, refused},
		{"the same with a space that Windows drops", FileChange{Path: ".signalbox /config.yaml"}, refused},
		{"the same as a stream", FileChange{Path: ".signalbox::$INDEX_ALLOCATION/config.yaml"}, refused},
		{"the same with a character that macOS drops", FileChange{Path: ".signal\u200cbox/config.yaml"}, refused},
		{"the state with a space that Windows drops", FileChange{Path: "state.json "}, refused},
		{"a run's document by another name", FileChange{Path: "Runs./RQ-1/20261120-090000-abcdef/Stage.json."}, refused},
		{"a run's document", FileChange{Path: "runs/RQ-1/20261120-090000-abcdef/stage.json"}, refused},
		{"the environments", FileChange{Path: "environments.json"}, refused},
		{"the health", FileChange{Path: "state.json"}, refused},
		{"its copy", FileChange{Path: "state.json.bak"}, refused},
		{"a worktree", FileChange{Path: ".worktrees/issue-1-x/a"}, refused},
		{"our own folder", FileChange{Path: ".signalbox/lock"}, refused},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			v := Inspect([]FileChange{test.file}, 2000)
			got := passes
			switch {
			case len(v.Refused) > 0:
				got = refused
			case len(v.Flags) > 0:
				got = flagged
			}
			if got != test.want {
				t.Errorf("%q %s, want it %s: %q %q", test.file.Path, got, test.want, v.Flags, v.Refused)
			}
			for _, told := range append(v.Flags, v.Refused...) {
				if strings.ContainsFunc(told, unicode.IsControl) || !utf8.ValidString(told) {
					t.Errorf("%q would reach a terminal", told)
				}
			}
		})
	}
}

func TestInspectSize(t *testing.T) {
	t.Parallel()
	const limit = 10
	for _, test := range []struct {
		name     string
		files    []FileChange
		limit    int
		tooLarge bool
	}{
		{"as many lines as are allowed", []FileChange{{Path: "a", Added: 6}, {Path: "b", Deleted: 4}}, limit, false},
		{"one more", []FileChange{{Path: "a", Added: 6}, {Path: "b", Deleted: 5}}, limit, true},
		{"a binary file counts no lines", []FileChange{{Path: "a", Added: -1, Deleted: -1}, {Path: "b", Added: 10}}, limit, false},
		{"no limit", []FileChange{{Path: "a", Added: 1 << 20}}, 0, false},
		{"nothing", nil, limit, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			v := Inspect(test.files, test.limit)
			if v.Size.TooLarge != test.tooLarge || (len(v.Flags) > 0) != test.tooLarge {
				t.Errorf("%+v, flags %q", v.Size, v.Flags)
			}
			if v.Size.FilesChanged != len(test.files) {
				t.Errorf("%d files are counted as %d", len(test.files), v.Size.FilesChanged)
			}
		})
	}
}

// ordinaryTests are lines that projects have, each with a file that people change every day.
const ordinaryTests = `
npm test # src/index.ts
npm test # test/a.test.ts
npm run lint -- --max-warnings 0 # src/a.js
npx tsc --noEmit && npx vitest run # src/a.ts
node --test test/ # test/a.js
deno test -A # a.ts
bun test # src/a.ts
pytest -q tests # src/app.py
pytest --cov=app -k parse # app/app.py
pytest -k parse # src/parse.py
python -m pytest tests --cov=src # src/app.py
python -W error -m pytest # src/a.py
python -m unittest discover -s tests -t . # tests/test_a.py
python manage.py test --parallel $(nproc) # polls/a.py
python3 -c 'import app; app.check()' # web/x.py
cd backend && poetry run pytest # backend/app/x.py
uv run --frozen pytest -x src # src/a.py
PYTHONPATH=src python -m pytest # src/a.py
DATABASE_URL=postgres://localhost/db pytest # db/x.py
pip install -e '.[test]' && pytest # src/a.py
ruff check src && mypy src # src/a.py
tox -e py312 # src/a.py
go vet ./... && go test -race ./... # a/b.go
test -z "$(gofmt -l .)" && go test ./... # a.go
bash -c 'set -e; go test ./...' # a/b.go
if ! go test ./...; then exit 1; fi # a.go
go build -o /tmp/app ./cmd/app && /tmp/app --version # cmd/app/main.go
set -e; for d in a b; do (cd $d && go test ./...); done # a/x.go
go test ./... 2>&1 | tee out.txt # a.go
make test # src/x.c
xvfb-run -a npm test # src/a.js
nix develop -c make test # src/a.c
cmake -S . -B build && cmake --build build && ctest --test-dir build # src/x.cc
cargo test --all # src/lib.rs
./gradlew test # src/main/A.java
mvn -q verify # src/main/java/A.java
bundle exec rspec # spec/a_spec.rb
php vendor/bin/phpunit tests # src/A.php
swift test # Sources/a.swift
dotnet test src/App.sln # src/A.cs
docker compose run --rm app pytest # app/x.py
git -c user.name=x commit -q --allow-empty-message # src/a.go
PYTEST_ADDOPTS='-q --cov=src' pytest # src/a.py
go build -o bin/app ./cmd/app && bin/app --version # cmd/app/main.go
gcc -o /tmp/a src/a.c && /tmp/a # lib/b.c
env CI=1 timeout 60 ./run-tests.sh # src/a.py
python3 run_tests.py # src/a.py
venv/bin/python -X dev -m pytest # src/a.py
sh test.sh # src/a.py
./test.sh unit # src/a.py
! grep -rn TODO src # src/a.js
sleep 1; curl -f http://localhost:$PORT/health # health/a.py
`

func TestAnOrdinaryChangeIsNotJudgedByItself(t *testing.T) {
	t.Parallel()
	for row := range strings.Lines(strings.TrimSpace(ordinaryTests)) {
		line, file, _ := strings.Cut(strings.TrimSpace(row), " # ")
		if reasons := Judged([]string{line}, nil, []FileChange{{Path: file, OldMode: "100644", NewMode: "100644"}}); len(reasons) > 0 {
			t.Errorf("%s: %q", row, reasons)
		}
	}
}

// FuzzJudged: no line, which a stranger's request may bring, makes it panic or takes long.
func FuzzJudged(f *testing.F) {
	for _, seed := range []string{"sh -c 'sh {a,b}.sh'", "${a:-$(b `c`)}", "{1..99999999}{1..99999999}", "$((2**99999))", "a=xxxxxxxx; b=$a$a$a$a; c=$b$b$b$b; d=$c$c$c$c; e=$d$d$d$d; f=$e$e$e$e; g=$f$f$f$f; h=$g$g$g$g; i=$h$h$h$h; j=$i$i$i$i; sh $j$j$j$j.sh", "PATH=~x:$PWD a <<b\nc\nb", "a='$a'; \"${a[@]}\" ${!a}"} {
		f.Add(seed, "a/b.sh")
	}
	f.Fuzz(func(_ *testing.T, line, file string) {
		Judged([]string{line}, []string{line}, []FileChange{{Path: file, OldMode: "100644"}})
	})
}

// FuzzInspect: no name makes it panic, and none leads into a .git folder.
func FuzzInspect(f *testing.F) {
	for _, seed := range []string{"a/b.go", ".GIT/config", "a\\.git\\x", "\xff", "", "/", "..", ".git.. /x", "runs/a/b/stage.json"} {
		f.Add(seed, "100644", int64(1), 3)
	}
	f.Fuzz(func(t *testing.T, name, mode string, size int64, lines int) {
		v := Inspect([]FileChange{{Path: name, NewMode: mode, Size: size, Added: lines}}, 2000)
		for part := range strings.SplitSeq(name, "/") {
			if strings.EqualFold(part, ".git") && len(v.Refused) == 0 {
				t.Errorf("%q was let through", name)
			}
		}
		for _, told := range append(v.Flags, v.Refused...) {
			if strings.ContainsFunc(told, unicode.IsControl) || !utf8.ValidString(told) {
				t.Errorf("%q would reach a terminal", told)
			}
		}
	})
}
