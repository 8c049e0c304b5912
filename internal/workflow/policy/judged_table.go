package policy

// Starters start what the project wrote down in a file, which may be any program.
var Starters = []string{"make", "gmake", "npm", "pnpm", "yarn", "bun", "npx", "just", "task", "mise", "tox", "nox", "rake", "composer",
	"gradle", "gradlew", "mvn", "mvnw", "bazel", "pre-commit"}

// Judging are the files that programs read unasked and that decide what a test says, or whether it runs at all. Whole files
// count where a part of them would do: a package.json says in four places what "npm test" is. What only says which packages
// are there is left out, such as requirements.txt: it is looked at as every change is. So is the go.mod at the root: the go command runs the
// tests of the packages that it is told of, whatever is written there; a replaced module is code like the change's own, and
// a toolchain comes from the Go project, checked against its public log.
var Judging = []struct {
	Programs, Files []string
}{
	// A recipe is what runs; GNUmakefile goes before Makefile, so that adding one replaces it. .mk files are included.
	{[]string{"make", "gmake"}, []string{"GNUmakefile", "makefile", "Makefile", "*.mk"}},
	// scripts (test, pretest, posttest, and prepare at an install), and the sections of jest, mocha and ava.
	{[]string{"npm", "pnpm", "yarn", "bun", "npx", "node"}, []string{"package.json", ".npmrc", ".yarnrc.yml", ".pnpmfile.cjs", "bunfig.toml"}},
	// The runners behind them: which files are tests, what is set up before, and whether no test at all is a success.
	{[]string{"npm", "pnpm", "yarn", "bun", "npx", "jest", "vitest", "mocha", "ava", "karma", "playwright", "cypress"},
		[]string{"jest.config.*", "jest.setup.*", "vitest.config.*", "vitest.workspace.*", "vite.config.*", ".mocharc.*", "ava.config.*",
			"karma.conf.*", "playwright.config.*", "cypress.config.*"}},
	// deno test: its tasks, and which files are tests.
	{[]string{"deno"}, []string{"deno.json", "deno.jsonc"}},
	// conftest.py can skip or pass every test; the others have addopts, testpaths and plug-ins.
	{[]string{"pytest", "py.test", "tox", "nox", "coverage"}, []string{"conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", "setup.cfg", "tox.ini", "pyproject.toml", ".coveragerc"}},
	// Python imports these before anything else, and a module beside the tests before the real one.
	{[]string{"python", "python3", "pytest", "py.test"}, []string{"sitecustomize.py", "usercustomize.py", "unittest.py", "pytest.py"}},
	// Sessions of nox are functions in a file.
	{[]string{"nox"}, []string{"noxfile.py"}},
	// An install of the project itself runs its own build.
	{[]string{"pip", "pip3", "uv", "poetry", "pdm", "hatch"}, []string{"setup.py", "setup.cfg", "pyproject.toml"}},
	// Recipes.
	{[]string{"just"}, []string{"justfile", "Justfile", ".justfile", "*.just"}},
	{[]string{"task"}, []string{"Taskfile.yml", "Taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml", "taskfile.yml", "taskfile.yaml"}},
	// Tasks, and the versions of all programs.
	{[]string{"mise"}, []string{"mise.toml", ".mise.toml", "mise.local.toml", ".tool-versions", "mise-tasks/", ".mise/"}},
	// build.rs runs before the tests, .cargo/config.toml names runner and wrapper, Cargo.toml has "test = false" and "harness = false".
	{[]string{"cargo"}, []string{"build.rs", ".cargo/", "Cargo.toml", "rust-toolchain", "rust-toolchain.toml", "nextest.toml"}},
	// A test task can ignore its failures; the wrapper is a script and the address of a program.
	{[]string{"gradle", "gradlew"}, []string{"*.gradle", "*.gradle.kts", "gradle.properties", "gradlew", "gradle/", "buildSrc/"}},
	{[]string{"mvn", "mvnw"}, []string{"pom.xml", "mvnw", ".mvn/"}},
	{[]string{"sbt"}, []string{"build.sbt", "project/"}},
	{[]string{"ant"}, []string{"build.xml"}},
	// Helpers run before every example; .rspec has options.
	{[]string{"rspec", "rake", "bundle", "rails"}, []string{".rspec", "spec_helper.rb", "rails_helper.rb", "test_helper.rb", "Rakefile", "*.rake"}},
	{[]string{"phpunit", "pest", "composer"}, []string{"phpunit.xml", "phpunit.xml.dist", "Pest.php", "composer.json"}},
	// A project file may hold no tests at all, or run anything before them.
	{[]string{"dotnet"}, []string{"*.csproj", "*.fsproj", "*.runsettings", "Directory.Build.props", "Directory.Build.targets", "global.json"}},
	{[]string{"mix"}, []string{"mix.exs", "test_helper.exs"}},
	{[]string{"swift"}, []string{"Package.swift"}},
	// Which tests there are is written down here, and found nowhere else.
	{[]string{"ctest", "cmake", "ninja"}, []string{"CMakeLists.txt", "*.cmake", "CMakePresets.json", "build.ninja"}},
	{[]string{"meson"}, []string{"meson.build"}},
	{[]string{"bazel", "bazelisk"}, []string{"BUILD", "BUILD.bazel", "WORKSPACE", "MODULE.bazel", ".bazelrc", "*.bzl"}},
	{[]string{"prove"}, []string{".proverc"}},
	// A linter's settings say what it finds.
	{[]string{"golangci-lint"}, []string{".golangci.*"}},
	{[]string{"eslint", "tsc", "biome", "prettier"}, []string{"eslint.config.*", ".eslintrc*", ".eslintignore", "tsconfig*.json", "biome.json"}},
	{[]string{"ruff", "mypy", "flake8", "pylint"}, []string{"ruff.toml", ".ruff.toml", "mypy.ini", ".mypy.ini", ".flake8", ".pylintrc", "setup.cfg", "pyproject.toml"}},
	{[]string{"pre-commit"}, []string{".pre-commit-config.yaml"}},
	// What a test's services are.
	{[]string{"docker", "docker-compose", "podman"}, []string{"Dockerfile", "*.Dockerfile", "Containerfile", "docker-compose*.yml", "docker-compose*.yaml", "compose*.yml", "compose*.yaml"}},
}
