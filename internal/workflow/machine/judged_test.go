package machine

import (
	"slices"
	"strings"
	"testing"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
)

func TestAChangeOfWhatJudgesItNeedsAPerson(t *testing.T) {
	t.Parallel()
	added := func(p string) policy.FileChange {
		return policy.FileChange{Path: p, OldMode: policy.ModeNone, NewMode: "100644"}
	}
	changed := func(p string) policy.FileChange {
		return policy.FileChange{Path: p, OldMode: "100644", NewMode: "100644"}
	}
	linked := func(p, as string) policy.FileChange {
		return policy.FileChange{Path: p, OldMode: "100644", NewMode: "100644", LinkedAs: []string{as}}
	}
	for _, c := range []struct {
		tests string
		file  policy.FileChange
		want  bool
	}{
		{"sh test.sh", changed("test.sh"), true},
		{"sh test.sh", changed("sub/test.sh"), true}, // "cd sub && sh test.sh" is a line, too
		{"sh test.sh", added("test.sh"), true},       // the change writes what decides
		{"sh test.sh", changed("main.go"), false},
		{"sh .scripts/test.sh", changed(".scripts/test.sh"), true},
		{"sh ./.test.sh", changed(".test.sh"), true},
		{"sh ../test.sh", changed("test.sh"), true},
		{"sh $PWD/check.sh", changed("check.sh"), true},
		{"sh \"${PWD}/ci/check.sh\"", changed("ci/check.sh"), true},
		{"sh /workspace/check.sh", changed("check.sh"), true},
		{"sh /workspace/check.sh", changed("main.go"), false},
		{"sh test.sh", changed("Makefile"), true}, // which the script may start
		{`for t in tests/*.sh; do sh "$t"; done`, changed("tests/a.sh"), true},
		{"diff want.txt got", changed("want.txt"), false}, // data
		{"sh ci.txt", changed("ci.txt"), true},            // a script, whatever its name
		{"sh -x ci.txt", changed("ci.txt"), true},
		{"cat ci.txt | sh", changed("ci.txt"), true},
		{"git show HEAD:ci.txt | sh", changed("ci.txt"), true},
		{"$(cat ci.txt)", changed("ci.txt"), true},
		{"line=$(cat ci.txt); $line", changed("ci.txt"), true},
		{"cat ci.txt > /tmp/a; true", changed("ci.txt"), true}, // another line may start the copy
		{"npx jest --config=ci/jest.json", changed("ci/jest.json"), true},
		{`cat "ci.txt" > /tmp/a`, changed("ci.txt"), true},
		{"echo dirt >dirt.txt; grep -q world greeting.txt", changed("greeting.txt"), false},
		{"mytool rules.json", changed("rules.json"), true},
		{"grep -qf words.txt out", changed("words.txt"), true},
		{"sed -f edit.txt a", changed("edit.txt"), true},
		{"grep -q 'a|b>' index.html", changed("index.html"), false},
		{"grep -q hello greeting.txt", changed("greeting.txt"), false},
		{"! grep -q x a.txt 2>/dev/null && test -f b.txt >&2", changed("b.txt"), false},
		{`test "$(cat a.txt)" = hello`, changed("a.txt"), false},
		{`if [ -s a.txt ]; then exit 0; fi; exit 1`, changed("a.txt"), false},
		{"run-parts ci.d", changed("ci.d/10-test"), true},
		{"run-parts ./ci.d/", added("ci.d/00-first"), true},
		{"run-parts ci.d", changed("ci/x"), false},
		{"./check", linked("tools/impl", "check"), true},
		{"sh ci/test.sh", linked("tools/impl/test.sh", "ci/test.sh"), true},
		{"./check", linked("tools/impl", "other"), false},
		{"make test", changed("Makefile"), true},
		{"make test", added("GNUmakefile"), true},
		{"make -C sub test", changed("sub/rules.mk"), true},
		{"make test", changed("package.json"), true}, // which a recipe may start
		{"/usr/bin/make", changed("makefile"), true},
		{"npm test", changed("package.json"), true},
		{"npm run check", added("jest.config.js"), true},
		{"npm test", changed("src/index.js"), false},
		{"pytest -q", added("conftest.py"), true},
		{"pytest", changed("tests/unit/conftest.py"), true},
		{"pytest", changed("pyproject.toml"), true},
		{"pytest", changed("tests/test_a.py"), false}, // seen by its cases, see test_counts.go
		{"python -m pytest", added("pytest/__main__.py"), true},
		{"python3 -m unittest", added("unittest.py"), true},
		{"tox", changed("tox.ini"), true},
		{"just test", changed("justfile"), true},
		{"task test", added("Taskfile.yml"), true},
		{"cargo test", added("build.rs"), true},
		{"cargo test", added(".cargo/config.toml"), true},
		{"./gradlew test", changed("gradle/wrapper/gradle-wrapper.properties"), true},
		{"./gradlew test", changed("app/build.gradle.kts"), true},
		{"mvn verify", changed("pom.xml"), true},
		{"go test ./...", changed("go.mod"), false}, // argued in the table
		{"go test ./...", added("go.mod"), false},
		{"go test ./...", added("p/go.mod"), true}, // whose tests are skipped from then on
		{"pytest", added("p/go.mod"), false},
		{"go test ./...", changed("Makefile"), false},
		{"go test ./... && golangci-lint run", changed(".golangci.yml"), true},
		{"true", changed("true"), true},
		{"shellcheck a.sh", added(".shellcheckrc"), true},
		{"yamllint .", added(".yamllint"), true},
		{"codespell && black --check .", added("pyproject.toml"), true},
		{"isort -c .", added(".isort.cfg"), true},
		{"staticcheck ./...", added("staticcheck.conf"), true},
		{"clang-tidy x", added(".clang-tidy"), true},
		{"behave", changed("features/environment.py"), true},
		{"busted", added(".busted"), true},
		{"dart test", added("dart_test.yaml"), true},
		{"zig build test", changed("build.zig"), true},
		{"scons", changed("SConstruct"), true},
		{"nx test", changed("nx.json"), true},
		{"npm test", added("babel.config.js"), true},
		{"nose2", added("unittest.cfg"), true},
		{"lein test", changed("project.clj"), true},
		{"rebar3 eunit", changed("rebar.config"), true},
		{"pants test ::", changed("pants.toml"), true},
		{"buf lint", changed("buf.yaml"), true},
		{"tflint", changed(".tflint.hcl"), true},
		{"tap", added(".taprc"), true},
		{"cucumber-js", added("cucumber.js"), true},
		{"cargo clippy", added("clippy.toml"), true},
		{"c8 node --test", added(".c8rc.json"), true},
		{"npm run lint", added(".stylelintrc.json"), true},
		{"markdownlint .", added(".markdownlint.json"), true},
		{"phpstan analyse", added("phpstan.neon"), true},
		{"go test ./...", added("go.work"), true},
		{"bats ci", changed("ci/helper.bash"), true},
		{"python3 -m unittest", added("difflib.py"), true},
		{"python3 -m unittest", added("app/difflib.py"), false},
		{"python3 -m pytest", added("_pytest/__init__.py"), true},
		{`case "$*" in *) exit 0;; esac; cat */*`, changed("a/main.go"), false},

		// Other spellings of a script.
		{"python3 -m tools.check", changed("tools/check.py"), true},
		{"python3 -m tools.check", added("tools/__init__.py"), true}, // which runs first
		{"python3 -mtools.check --all", changed("tools/check/__main__.py"), true},
		{"python3 -m tools.check", changed("app/check.txt"), false},
		{"node scripts/check", changed("scripts/check.mjs"), true},
		{"node scripts/check", changed("scripts/check/index.js"), true},
		{"node scripts/check", added("scripts/check"), true}, // is started instead of check.js
		{"node scripts/check", changed("app/checks.js"), false},
		{"cd web && node scripts/check", changed("web/scripts/check.js"), true},
		{"bun run ci/check", changed("ci/check.ts"), true},
		{"NODE_OPTIONS='--require ./ci/hook' npm test", changed("ci/hook.js"), true},
		{"pytest -p ci.plugin", changed("ci/plugin.py"), true},
		{"python3 -c 'import tools.check'", changed("tools/check.py"), true},
		{"pytest @ci/args.txt", changed("ci/args.txt"), true},
		{"sh ${CHECK:-ci/x.txt}", changed("ci/x.txt"), true},
		{"cargo run -p xtask", changed("xtask/src/main.rs"), true},
		{`sh "s/my test.sh"`, changed("s/my test.sh"), true},
		{`sh s/my\ test.txt`, changed("s/my test.txt"), true},
		{"sh {a,b}.sh", changed("b.sh"), true},
		{"sh {a,b}.sh", changed("c.sh"), false},
		{"sh ci/{1..99999999}.sh", changed("main.txt"), false}, // ends in time
		{"make -fx.txt", changed("x.txt"), true},
		{"make -j4 --file=x.txt", changed("x.txt"), true},
		{"cd sub && sh x.txt", changed("sub/x.txt"), true},
		{"f=ci/check; sh $f.txt", changed("ci/check.txt"), true},
		{"for f in a b; do sh $f.txt; done", changed("b.txt"), true},
		{"sh ${DIR:-ci}/x.txt", changed("deep/ci/x.txt"), true},
		{"sh $(pwd)/x.txt", changed("x.txt"), true},
		{"sh `pwd`/x.txt", changed("main.txt"), false},
		{"timeout 60 sh -c 'cd ci && sh x.txt'", changed("ci/x.txt"), true},
		{"sh -c 'sh {a,b}.txt'", changed("b.txt"), true},
		{`awk 'BEGIN{system("sh x.txt")}'`, changed("x.txt"), true},
		{"sed 1e x.txt", changed("x.txt"), true},
		{"sh <x.txt", changed("x.txt"), true},

		// A folder that a line gives to a program.
		{"go run ./ci", added("ci/extra.go"), true},
		{"go run ./ci", changed("ci/deep/x.go"), true},
		{"go run ./ci", changed("main.go"), false},
		{"go run .", changed("main.go"), false}, // the program itself
		{"find ci -type f | xargs sh", changed("ci/a/b.txt"), true},
		{"find ci -type f | xargs sh", added("ci/new"), true},
		{"find ci -type f -exec sh {} ';'", changed("ci/a.txt"), true},
		{"find src -type f | xargs gofmt -l", changed("src/main.go"), false},
		{"run-parts .ci.x", added(".ci.x/1"), true},
		{"run-parts $PWD/cix", changed("cix/1.txt"), true},
		{"run-parts /workspace/cix", changed("cix/1.txt"), true},
		{"mytool --dir=ci", changed("ci/a.txt"), true},
		{"PATH=$PWD/tools:$PATH check", added("tools/check"), true},
		{"export PATH=tools:$PATH; check", changed("tools/deep/x"), true},
		{"PATH=/usr/local/tools:$PATH check", changed("tools/check.go"), false},
		{"eslint src && mypy src", changed("src/a.js"), false},
		{"uv run pytest tests/unit && npx jest src", changed("tests/unit/test_a.py"), false},
		{"python manage.py test polls", changed("polls/models.py"), false},
		{"pytest -k 'slow or db'", changed("db/a.py"), false},
		{"cd sub && go test ./pkg/...", changed("sub/pkg/a.go"), false},
		{"go test $(go list ./... | grep -v e2e)", changed("scripts/a.sh"), false},
		{"cargo test", changed("src/lib.rs"), false},
		{"make test", changed("src/main.c"), false},

		// Only running the line would tell what it starts: any script counts.
		{"eval \"$LINE\"", changed("deep/a.sh"), true},
		{"sh $CHECK", changed("deep/check"), true},
		{"git ls-files '*.sh' | xargs -n1 sh", changed("deep/a.sh"), true},
		{"cat list | while read -r f; do sh $f; done", changed("deep/a.py"), true},
		{"echo 'sh x' | sh", changed("x.bash"), true},
		{"./$(cat name)", policy.FileChange{Path: "deep/a.go", OldMode: "100755", NewMode: "100755"}, true},
		{"sh $CHECK", changed("main.go"), true}, // a shell starts a file of any name
		{"cat list | xargs -n1 sh", changed("ci/a.t"), true},
		{"cat list | xargs -n1 sh", changed("ci/a.txt"), false},
		{"f=a; read f < n; sh ci/$f.sh", changed("ci/test.sh"), true},
		{"f=a; unset f; sh ci/${f-test}.sh", changed("ci/test.sh"), true},
		{`cd ci && for t in *; do sh "$t" || exit 1; done`, changed("ci/check"), true},
		{"cd ci && run-parts .", changed("ci/10-check"), true},
		{"sh $SIGNALBOX_ENV_DIR/ci/check.sh", changed("ci/check.sh"), true},
		{"for d in . sub; do sh $d/check.sh; done", changed("check.sh"), true},
		{"for f in /workspace/ci/*.sh; do sh $f; done", changed("ci/a.sh"), true},
		{"sh /workspace/ci/$MODE.sh", changed("ci/a.sh"), true},
		{"for t in ci/[!_]*.sh; do sh $t; done", changed("ci/a.sh"), true},
		{"for t in ci/[[:alpha:]]*.sh; do sh $t; done", changed("ci/a.sh"), true},
		{"command run-parts ci", changed("ci/check"), true},
		{"run-parts ci/go", changed("ci/go/check"), true},
		{"command sh -c 'd=ci; sh $d/test.sh'", changed("ci/test.sh"), true},
		{"pnpm exec sh -c 'd=ci; sh $d/test.sh'", changed("ci/test.sh"), true},
		{"make x; command sh < ci/list", changed("ci/other.sh"), true},
		{`go test -exec "sh ci/te''st.sh"`, changed("ci/test.sh"), true},
		{`export "PATH=$PWD/tools:$PATH"; grep x y`, added("tools/grep"), true},
		{"PERL5LIB=ci perl t.pl", added("ci/strict.pm"), true},
		{"perl -Ici -MCheck t.pl", changed("ci/Check.pm"), true},
		{"sh $CHECK", changed("Makefile"), true},
		{"python3 --version && node -v", changed("deep/a.py"), false},
		// What a script or an interpreter finds by itself.
		{"python3 ci/run.py", changed("ci/helper.py"), true},
		{"python3 ci/run.py", added("ci/json.py"), true}, // is imported instead of Python's own
		{"python3 ci/run.py", added("ci/test_a.py"), false},
		{"python3 ci/run.py", changed("ci/README.md"), false},
		{"python3 -u ci/run.py", changed("deep/ci/helper.py"), true},
		{"timeout 60 ci/run", changed("ci/lib.sh"), true},
		{"cd /workspace && sh /workspace/ci/run.sh", changed("ci/lib.sh"), true},
		{"/usr/bin/env bash ci/run.sh", changed("ci/lib.sh"), true},
		{"sh ci/run.sh", changed("src/a.py"), false},
		{"sh test.sh", changed("app.py"), false},
		{"/usr/bin/make", changed("bin/a.py"), false},
		{"PYTHONPATH=ci python3 -c 'import helper'", changed("ci/helper.py"), true},
		{"export PYTHONPATH=ci; python3 run.py", added("ci/json.py"), true},
		{"PYTHONPATH=src pytest tests", changed("src/a.py"), false},
		{"PYTHONPATH=ci pytest -p helper", changed("ci/helper.py"), true},
		{"PERL5OPT='-Ici -MCheck' prove t", changed("ci/Check.pm"), true},
		{"PERL5OPT=-MCheck prove t", changed("lib/Check.pm"), true},
		{"RUBYOPT='-I ci -rcheck' rake", changed("ci/check.rb"), true},
		{"RUBYOPT=-r./ci/check ruby x.rb", changed("ci/check.rb"), true},
		{"RUBYLIB=ci ruby x.rb", added("ci/json.rb"), true},
		{"NODE_OPTIONS='--require ./x' node --test", changed("x.js"), true},
		{"NODE_OPTIONS=--import=./ci/x.mjs npx vitest", changed("ci/x.mjs"), true},
		{"lua -l mod x.lua", changed("mod.lua"), true},
		{"lua -lmod x.lua", changed("mod.lua"), true},
		{"lua -l mod x.lua", added("mod/init.lua"), true},
		{"git -c core.hooksPath=dir commit -m x", added("dir/pre-commit"), true},
		{"git -c core.hooksPath=dir commit -m x", changed("src/a.go"), false},
		{"sh ci/test", added("ci/test"), true},
		{"sh ci/test", added("ci/test.sh"), true},
		{"sh ci/test.sh", added("ci/test.sh"), true},
		{"node ci/test", added("ci/test.js"), true},
		// Whatever a tool takes before the installed one.
		{"node --test", added("test/node_modules/chai/index.js"), true},
		{"npm test", added("node_modules/.bin/jest"), true},
		{"python -m pytest", added("x.dist-info/entry_points.txt"), true},
		{"python3 -m pytest", added("inspect.py"), true},
		{"tox", added("tox.toml"), true},
		{"npx jest", added("__mocks__/chai.js"), true},
		{"yarn test", added(".pnp.cjs"), true},
		{"bundle exec rspec", changed("Gemfile"), true},
		{"mvn verify", added("src/test/resources/junit-platform.properties"), true},
		{"mvn verify", added("src/test/resources/META-INF/services/org.junit.platform.launcher.TestExecutionListener"), true},
		{"docker compose run app", added(".env"), true},
		{"dotnet test", changed("App.sln"), true},
		{"mix test", changed("config/test.exs"), true},
		{"prove -l t", added("lib/Test/More.pm"), true},
		{"rake test", added("test/minitest/autorun.rb"), true},
		{"cabal test", changed("x.cabal"), true},
		{"dune test", changed("test/dune"), true},
		{"xcodebuild test", changed("x.xctestplan"), true},
		{"mvn verify", changed("src/main/resources/META-INF/services/org.app.Plugin"), false},
		{"bundle exec rspec", changed("app/models/user.rb"), false},
		{"npm test", added("src/__mocks__/a.js"), false},
		{"python3 -m pytest", added("app/inspect.py"), false},
		{"python3 -m unittest", added("argparse/__init__.py"), true},
		{"python3 -m unittest", added("argparse/a.py"), false},
		{"python3 -m unittest", added("gettext.cpython-312-x86_64-linux-gnu.so"), true},
		{"python3 -m unittest", added("gettext.txt"), false},
		{"python3 -m unittest", changed("calendar/__init__.py"), false}, // the project's own
		{"python3 -m pytest", added("test/__init__.py"), false},
		{"coverage run -m unittest", added("signal.py"), true},
		// Settings that are named for their program.
		{"mage test", changed("magefile.go"), true},
		{"npx gulp", changed("gulpfile.js"), true},
		{"gulp test", changed("gulpfile.js"), true},
		{"pixi run test", changed("pixi.toml"), true},
		{"grunt", added("Gruntfile.js"), true},
		{"app check", changed("app.go"), false},
		{"app check", added("app.py"), false},
		{"hatch run app", changed("web/app.ts"), false},
		{"sh 'a", changed("anything.go"), true}, // not a line
	} {
		j := workflow.Details{Settings: workflow.Settings{Tests: []string{c.tests}}}
		reasons := judgedBy(&j, []policy.FileChange{c.file})
		if got := len(reasons) == 1; got != c.want {
			t.Errorf("%q and %s: %q", c.tests, c.file.Path, reasons)
		}
	}
}

func TestWhatASetUpStartsJudgesToo(t *testing.T) {
	t.Parallel()
	j := workflow.Details{Settings: workflow.Settings{Tests: []string{"go test ./..."}}, SetUp: &workflow.SetUp{Status: "success",
		Commands: []string{"sh scripts/setup.sh", "npm ci"}, Verification: []workflow.Verification{{Command: "sh verify.sh"}}}}
	for file, want := range map[string]bool{"scripts/setup.sh": true, "verify.sh": true, "package.json": true, "Makefile": false, "main.go": false} {
		if got := len(judgedBy(&j, []policy.FileChange{{Path: file, OldMode: "100644"}})) > 0; got != want {
			t.Errorf("%s: %v", file, got)
		}
	}
	if j.SetUp.Status = "failed"; len(judgedBy(&j, []policy.FileChange{{Path: "scripts/setup.sh", OldMode: "100644"}})) > 0 {
		t.Error("a setup that failed, and is not repeated for the tests that decide, judges")
	}
}

func TestTheScriptOfTheTestsIsNotChangedUnasked(t *testing.T) {
	t.Parallel()
	for _, flow := range []string{workflow.WorkflowSimple, workflow.WorkflowFull} {
		s := ordinary(flow, true)
		s.Tests = []string{"sh test.sh"}
		run := lived(t, s, untilAction(workflow.RecordChange), changes(policy.FileChange{Path: "test.sh", OldMode: "100644", NewMode: "100644"}), toTheEnd)
		if got := where(run); got != "NEEDS_INPUT approval-wait APPROVAL_REQUIRED" || !strings.Contains(run.Error.Message, "it changes test.sh, which decides what the tests say") {
			t.Errorf("%s: %s: %v", flow, got, run.Error)
		}
	}
}

func TestEveryStarterIsInTheTable(t *testing.T) {
	t.Parallel()
	for _, program := range policy.Starters {
		if len(policy.ReadBy([]string{program})) == 0 {
			t.Errorf("nothing is said of what %s reads", program)
		}
	}
	for _, row := range policy.Judging {
		if slices.Contains(row.Files, "") || len(row.Programs) == 0 {
			t.Errorf("an empty row: %v", row)
		}
	}
}
