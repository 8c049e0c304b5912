package policy

import (
	"slices"
	"sync"
)

// lookers are programs that print or compare files and never act on their content. scripted are those of them that can read a
// script or patterns from a file, with -f, or start what they find.
var (
	lookers = []string{"[", "[[", "test", "true", "false", ":", "cat", "head", "tail", "wc", "diff", "cmp", "comm", "ls", "stat", "cut", "sort", "uniq", "nl", "od", "xxd",
		"file", "sha256sum", "sha1sum", "md5sum", "cksum", "xmllint", "tr", "echo", "printf", "exit", "grep", "egrep", "fgrep", "rg", "jq", "yq", "find"}
	scripted = lookers[slices.Index(lookers, "grep"):]
)

// data are the ends of names of files that only some programs take commands from; scripts those of files that an interpreter starts.
var (
	data    = []string{".txt", ".md", ".json", ".csv", ".tsv", ".xml", ".html", ".log"}
	scripts = []string{"", ".sh", ".bash", ".zsh", ".bats", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".rb", ".pl", ".pm", ".t", ".php", ".inc", ".lua", ".awk", ".sed", ".jq", ".mk", ".tcl", ".ps1"}
)

// settings are the ends of names of files that hold a program's settings.
var settings = []string{".toml", ".yml", ".yaml", ".json", ".jsonc", ".json5", ".cfg", ".ini", ".conf", ".lua"}

// feeders start commands that they read. interpreters do so too, unless they are given a file. builders start, with "run", the program that
// they make of a folder. launchers start the program that their arguments name, some by
// one of the subcommands. valued are options
// whose value is the next word; loading those that a module or a folder of modules may follow at once; optional the variables that hold such options. readers set variables to what only running tells. searched are
// the variables that name folders of programs and modules. inert start nothing, whatever their arguments are called. printsFolder are the commands that print the project's folder.
var (
	builders     = []string{"go", "cargo", "zig", "swift", "dotnet"}
	feeders      = []string{"xargs", "parallel", "eval"}
	interpreters = []string{"sh", "bash", "dash", "zsh", "ksh", "busybox", "python", "python3", "node", "perl", "ruby", "php", "lua", "luajit", "tclsh", "pwsh", "source", "."}
	shells       = []string{"sh", "bash", "dash", "zsh", "ksh", "busybox"}
	launchers    = []string{"exec", "env", "time", "nice", "ionice", "timeout", "sudo", "nohup", "command", "xargs", "parallel", "xvfb-run", "python", "python3", "node", "php", "npx", "uv", "poetry", "pipenv", "nix"}
	subcommands  = []string{"run", "develop"}
	valued       = []string{"-W", "-X", "-r", "--require", "--import", "-I"}
	loading      = []string{"-I", "-l", "-M", "-r"}
	optional     = []string{"PERL5OPT", "RUBYOPT", "NODE_OPTIONS"}
	readers      = []string{"read", "unset", "mapfile", "readarray", "getopts"}
	searched     = []string{"PATH", "PERL5LIB", "NODE_PATH", "RUBYLIB", "LUA_PATH"}
	inert        = []string{"cd", "pushd", "mkdir", "rm", "touch", "chmod", "chown", "export", "set", "which", "type", "sleep"}
	printsFolder = []string{"pwd", "pwd -P", "git rev-parse --show-toplevel"}
)

// runners returns the programs that take folders for packages, tests or texts to check, and start no other file below them: those of
// Judging, except the ones that start any program, and further ones.
var runners = sync.OnceValue(func() []string {
	all := []string{"gofmt", "goimports", "gofumpt", "gotestsum", "ginkgo", "govulncheck", "unittest", "--test", "manage.py", "setup.py", "compileall",
		"shfmt", "hadolint", "rustfmt", "clang-format", "cppcheck", "robot",
		"Rscript", "lerna",
		"terraform", "tofu", "helm", "git", "curl", "wget", "apt", "apt-get", "apk", "dnf", "yum", "brew", "conda", "mamba", "gem", "corepack", "nvm"}
	all = append(all, inert...)
	for _, row := range Judging {
		all = append(all, row.Programs...)
	}
	return slices.DeleteFunc(all, func(program string) bool {
		return slices.Contains([]string{"node", "npx", "python", "python3", "uv", "poetry"}, program)
	})
})

// Starters are programs that take commands from a file of the project, and so may start any other program.
var Starters = []string{"make", "gmake", "npm", "pnpm", "yarn", "bun", "npx", "just", "task", "mise", "tox", "nox", "rake", "composer",
	"gradle", "gradlew", "mvn", "mvnw", "bazel", "pre-commit"}

// Judging lists, for programs by their base names, the files that they read without being told to and that decide what a test
// says, or whether it runs at all. The patterns are those of path.Match, and hold in any folder; one with a slash at its end is
// a folder, and one that begins with a slash is in the project's own.
//
// A whole file counts even if only a part of it matters: a package.json says in four places what "npm test" is. Files that only
// list packages, such as requirements.txt, are left out; they are reviewed like any other change. So is the go.mod at the root:
// the go command runs the tests of the packages that it is told to test, except those below an ignore directive (Go 1.25), which
// counts as a weakened test. A replaced module is code like the change's own, and a toolchain comes from the Go project, checked against its public log.
var Judging = []struct {
	Programs, Files []string
}{
	// The recipes are what runs. GNUmakefile is read instead of Makefile, so adding one replaces it; .mk files are included by it.
	{[]string{"make", "gmake"}, []string{"GNUmakefile", "makefile", "Makefile", "*.mk"}},
	// The scripts test, pretest, posttest and, at an install, prepare; the sections of jest, mocha and ava.
	{[]string{"npm", "pnpm", "yarn", "bun", "npx", "node"}, []string{"package.json", ".npmrc", ".yarnrc.yml", ".pnpmfile.cjs", "bunfig.toml"}},
	// Installed packages: a nearer folder, or the loader of Yarn, replaces a runner or a library of checks.
	{[]string{"npm", "pnpm", "yarn", "bun", "npx", "node", "deno", "jest", "vitest", "mocha", "ava"}, []string{"node_modules/", "/__mocks__/*", ".pnp.*"}},
	// The runners behind them: which files are tests, what runs before them, and whether no test at all is a success.
	{[]string{"npm", "pnpm", "yarn", "bun", "npx", "jest", "vitest", "mocha", "ava", "karma", "playwright", "cypress"},
		[]string{"jest.config.*", "jest.setup.*", "vitest.config.*", "vitest.workspace.*", "vite.config.*", ".mocharc.*", "ava.config.*",
			"karma.conf.*", "playwright.config.*", "cypress.config.*"}},
	// What the code of the tests is turned into, and how much of it must be covered.
	{[]string{"nyc", "c8", "babel", "webpack", "jest"}, []string{".nycrc*", ".c8rc*", "babel.config.*", ".babelrc*", "webpack.config.*"}},
	{[]string{"nx", "turbo", "ng"}, []string{"nx.json", "turbo.json", "angular.json", "project.json"}},
	{[]string{"tap", "cucumber", "cucumber-js"}, []string{".taprc", "cucumber.*"}},
	// deno test: its tasks, and which files are tests.
	{[]string{"deno"}, []string{"deno.json", "deno.jsonc"}},
	// conftest.py can skip or pass every test; the others have addopts, testpaths and plug-ins.
	{[]string{"pytest", "py.test", "tox", "nox", "coverage"}, []string{"conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.toml", "setup.cfg", "tox.ini", "pyproject.toml", ".coveragerc"}},
	// Installed packages, and the plug-ins that the metadata of a package in the project's folder names.
	{[]string{"python", "python3", "pytest", "py.test", "uv", "poetry", "tox", "nox"}, []string{"entry_points.txt", "site-packages/"}},
	// Python imports these before anything else, and a module next to the tests instead of the installed one. See replacesPython, too.
	{[]string{"python", "python3", "pytest", "py.test"}, []string{"sitecustomize.py", "usercustomize.py", "unittest.py", "pytest.py", "pluggy.py", "_pytest/"}},
	{[]string{"behave", "nose2"}, []string{"behave.ini", ".behaverc", "environment.py", "unittest.cfg", "nose2.cfg"}},
	{[]string{"pants"}, []string{"pants.toml", "BUILD"}},
	// The sessions of nox are functions in this file.
	{[]string{"nox"}, []string{"noxfile.py"}},
	// Installing the project runs its own build.
	{[]string{"pip", "pip3", "uv", "poetry", "pdm", "hatch"}, []string{"setup.py", "setup.cfg", "pyproject.toml"}},
	// Recipes.
	{[]string{"just"}, []string{"justfile", "Justfile", ".justfile", "*.just"}},
	{[]string{"task"}, []string{"Taskfile.yml", "Taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml", "taskfile.yml", "taskfile.yaml"}},
	// Tasks, and the versions of all programs.
	{[]string{"mise"}, []string{"mise.toml", ".mise.toml", "mise.local.toml", ".tool-versions", "mise-tasks/", ".mise/"}},
	// build.rs runs before the tests, .cargo/config.toml names runner and wrapper, Cargo.toml has "test = false" and "harness = false".
	{[]string{"cargo"}, []string{"build.rs", ".cargo/", "Cargo.toml", "rust-toolchain", "rust-toolchain.toml", "nextest.toml", "clippy.toml", ".clippy.toml", "deny.toml"}},
	// A workspace replaces modules, and leaves folders out.
	{[]string{"go"}, []string{"go.work"}},
	{[]string{"zig", "scons"}, []string{"build.zig", "SConstruct", "SConscript"}},
	{[]string{"lein", "rebar3"}, []string{"project.clj", "rebar.config*"}},
	{[]string{"dart", "flutter"}, []string{"dart_test.yaml", "analysis_options.yaml"}},
	{[]string{"bats", "busted"}, []string{"*.bash", ".busted"}},
	// A test task can ignore its failures. The wrapper is a script that downloads a program.
	{[]string{"gradle", "gradlew"}, []string{"*.gradle", "*.gradle.kts", "gradle.properties", "gradlew", "gradle/", "buildSrc/"}},
	{[]string{"mvn", "mvnw"}, []string{"pom.xml", "mvnw", ".mvn/"}},
	// JUnit reads these from the resources: a dry run passes, and a listener can end it.
	{[]string{"gradle", "gradlew", "mvn", "mvnw", "sbt", "ant"}, []string{"junit-platform.properties", "META-INF/services/org.junit.*", "META-INF/services/org.testng.*", "testng.xml"}},
	{[]string{"sbt"}, []string{"build.sbt", "project/"}},
	{[]string{"ant"}, []string{"build.xml"}},
	// The helpers run before every example; .rspec has options. Gemfile is Ruby that runs first. Ruby loads a minitest of the project instead of its own.
	{[]string{"rspec", "rake", "bundle", "rails"}, []string{"Gemfile", "gems.rb", "*.gemspec", "minitest/", "minitest.rb", "rspec/*.rb", ".rspec*", "spec_helper.rb", "rails_helper.rb", "test_helper.rb", "Rakefile", "*.rake"}},
	{[]string{"phpunit", "pest", "composer"}, []string{"phpunit.xml", "phpunit.xml.dist", "Pest.php", "composer.json"}},
	// A project file can leave all tests out, or run anything before them.
	{[]string{"dotnet"}, []string{"*.csproj", "*.fsproj", "*.vbproj", "*.sln", "*.slnx", "*.runsettings", "*.props", "*.targets", "*.rsp", "global.json"}},
	{[]string{"mix"}, []string{"mix.exs", "test_helper.exs", "config/*.exs"}},
	{[]string{"swift"}, []string{"Package.swift"}},
	// These files list the tests; nothing finds a test that they leave out.
	{[]string{"ctest", "cmake", "ninja"}, []string{"CMakeLists.txt", "*.cmake", "CMakePresets.json", "DartConfiguration.tcl", "build.ninja"}},
	{[]string{"meson"}, []string{"meson.build"}},
	{[]string{"bazel", "bazelisk"}, []string{"BUILD", "BUILD.bazel", "WORKSPACE", "MODULE.bazel", ".bazelrc", "*.bzl"}},
	{[]string{"prove"}, []string{".proverc", "Test/More.pm", "Test/Builder.pm", "Test2/", "TAP/", "strict.pm", "warnings.pm"}},
	{[]string{"cabal", "stack"}, []string{"*.cabal", "cabal.project*", "package.yaml", "stack.yaml", "Setup.hs"}},
	{[]string{"dune", "dub", "crystal", "gleam", "julia"}, []string{"dune", "dune-project", "dune-workspace", "dub.json", "dub.sdl", "shard.yml", "gleam.toml", "runtests.jl"}},
	{[]string{"xcodebuild"}, []string{"*.xctestplan", "*.xcscheme", "project.pbxproj"}},
	// A linter's settings decide what it finds.
	{[]string{"golangci-lint"}, []string{".golangci.*"}},
	{[]string{"eslint", "tsc", "biome", "prettier"}, []string{"eslint.config.*", ".eslintrc*", ".eslintignore", "tsconfig*.json", "biome.json"}},
	{[]string{"ruff", "mypy", "flake8", "pylint"}, []string{"ruff.toml", ".ruff.toml", "mypy.ini", ".mypy.ini", ".flake8", ".pylintrc", "setup.cfg", "pyproject.toml"}},
	{[]string{"black", "isort", "codespell"}, []string{"pyproject.toml", "setup.cfg", ".isort.cfg", ".codespellrc"}},
	{[]string{"shellcheck", "yamllint", "staticcheck", "clang-tidy"}, []string{".shellcheckrc", "shellcheckrc", ".yamllint*", "staticcheck.conf", ".clang-tidy"}},
	{[]string{"stylelint", "markdownlint", "markdownlint-cli2"}, []string{".stylelintrc*", "stylelint.config.*", ".stylelintignore", ".markdownlint*"}},
	{[]string{"phpstan", "buf", "tflint"}, []string{"phpstan.neon*", "phpstan.dist.neon", "buf.yaml", ".tflint.hcl"}},
	{[]string{"pre-commit"}, []string{".pre-commit-config.yaml"}},
	// The services that tests use.
	{[]string{"docker", "docker-compose", "podman"}, []string{"Dockerfile", "*.Dockerfile", "Containerfile", "docker-compose*.yml", "docker-compose*.yaml", "compose*.yml", "compose*.yaml", ".env"}},
}
