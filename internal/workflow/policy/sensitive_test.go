package policy

import (
	"path"
	"strings"
	"testing"
)

// sensitiveExamples were written down apart from the table: names as tools' own pages have them.
const sensitiveExamples = `
azure-pipelines.yml .drone.yml .buildkite/pipeline.yml bitbucket-pipelines.yml appveyor.yml .woodpecker.yml .semaphore/semaphore.yml
cloudbuild.yaml .pre-commit-config.yaml lefthook.yml opencode.json .pi/settings.json .cursorrules .windsurfrules .clinerules
CLAUDE.local.md AGENTS.override.md .devcontainer.json .npmrc .lfsconfig mise.toml requests/next.md

.github/workflows/ci.yml .github/actions/x/action.yml .github/dependabot.yml .gitlab-ci.yml ci/deploy.gitlab-ci.yml .gitlab/merge_request_templates/x.md
.gitea/workflows/x.yaml .forgejo/workflows/x.yaml azure-pipelines-release.yml .circleci/config.yml .travis.yml .drone.star .woodpecker/test.yaml
.appveyor.yml Jenkinsfile jenkins/release.Jenkinsfile Jenkinsfile.nightly .cirrus.yml buildspec.yml buildspec-deploy.yaml amplify.yml .build.yml .builds/debian.yml
.tekton/push.yaml .teamcity/settings.kts .zuul.yaml .readthedocs.yaml netlify.toml vercel.json render.yaml Procfile heroku.yml .do/app.yaml .gitpod.yml

.husky/pre-commit .pre-commit-hooks.yaml lefthook-local.yml .lefthook/pre-commit/x.sh .overcommit.yml .githooks/pre-push .lintstagedrc.json lint-staged.config.mjs
.simple-git-hooks.json captainhook.json

AGENTS.md CLAUDE.md packages/a/CLAUDE.md GEMINI.md .mcp.json .claude/settings.json .claude/commands/x.md .codex/config.toml .gemini/settings.json opencode.jsonc
.opencode/agent/x.md .cursor/rules/x.mdc .windsurf/rules/x.md .clinerules/x.md .roo/rules/x.md .roomodes .kilocode/rules/x.md .continue/rules/x.md .aider.conf.yml
.github/copilot-instructions.md .junie/guidelines.md .amazonq/rules/x.md .kiro/steering/x.md .goosehints .crush.json QWEN.md .rules .agents/skills/x/SKILL.md

.yarnrc .yarnrc.yml .yarn/releases/yarn-4.cjs .pnpmfile.cjs pnpm-workspace.yaml bunfig.toml pip.conf uv.toml .pypirc .cargo/config.toml crates/a/.cargo/config
rust-toolchain.toml NuGet.Config src/nuget.config gradlew gradle/wrapper/gradle-wrapper.properties gradle/wrapper/gradle-wrapper.jar mvnw .mvn/maven.config .mvn/wrapper/maven-wrapper.properties
.bazelrc tools/bazel .buckconfig .gemrc .bundle/config auth.json .netrc .curlrc

.envrc services/a/.envrc .mise.toml mise.local.toml .config/mise/config.toml .tool-versions flake.nix shell.nix devenv.nix devbox.json .devcontainer/devcontainer.json
.vscode/tasks.json .vscode/settings.json a.code-workspace .idea/workspace.xml .run/x.run.xml .zed/settings.json .vimrc .exrc .nvim.lua .dir-locals.el

.gitattributes docs/.gitattributes .gitmodules .gitconfig CODEOWNERS docs/CODEOWNERS OWNERS renovate.json .renovaterc.json5 .mergify.yml bors.toml .asf.yaml .gitleaks.toml
.worktreeinclude

.Rprofile .Renviron analysis/.Rprofile .pryrc .irbrc .pdbrc .octaverc .ghci .ocamlinit .iex.exs .psqlrc .sqliterc Vagrantfile
wrangler.toml workers/a/wrangler.jsonc firebase.json skaffold.yaml atlantis.yaml serverless.yml .ebextensions/01.config Dangerfile dangerfile.ts fastlane/Fastfile
.hg/hgrc .rubocop.yml .coderabbit.yaml

action.yml tools/x/action.yaml .goreleaser.yml .releaserc.json release.config.js fly.toml Tiltfile .gdbinit .bash_profile .zshrc sub/AGENT.md
`

// sensitiveDisguises are other ways to write some of them, which some file system takes for the same.
var sensitiveDisguises = []string{".GITHUB/Workflows/ci.yml", "azure-PIPELINES.YML", ".npmrc.", ".npmrc ", ".npmrc::$DATA", ".n\u200cpmrc", ".hu\u200bsky/pre-commit",
	".hu\u017fky/pre-commit", "JEN\u212aINSFILE", `.github\workflows\x.yml`, "GITHUB~1/workflows/x.yml", "NPMRC~1", ".github", "Requests/9.md", "requests"}

// ordinaryNames are what people change every day.
const ordinaryNames = `
main.go internal/parse.go cmd/tool/main.go go.mod go.sum README.md README CHANGELOG.md LICENSE docs/index.md docs/guide/install.md Makefile Dockerfile compose.yaml docker-compose.yml
package.json package-lock.json yarn.lock pnpm-lock.yaml tsconfig.json vite.config.ts webpack.config.js src/index.ts src/App.tsx jest.config.js .eslintrc.json .prettierrc .editorconfig
pyproject.toml setup.py setup.cfg requirements.txt requirements/dev.txt Pipfile poetry.lock tests/test_a.py conftest.py tox.ini Cargo.toml Cargo.lock src/lib.rs build.rs
pom.xml build.gradle build.gradle.kts settings.gradle gradle/libs.versions.toml src/main/java/A.java App.csproj App.sln Gemfile Gemfile.lock app/models/user.rb composer.json composer.lock
CMakeLists.txt configure.ac meson.build BUILD.bazel WORKSPACE MODULE.bazel include/a.h main.c .gitignore .dockerignore .clang-format .golangci.yml .mailmap .nvmrc .python-version
runs/2026/results.csv request.go requests.py api/requests/client.go docs/requests.md agents/agent.go claude.go pipelines/azure.go ci.yml config/pipeline.yml terraform/main.tf charts/a/values.yaml
db/migrate/1_x.sql public/index.html assets/logo.png data/hosts.csv locale/de.po .github-notes/x github/client.go vscode/extension.ts idea.md hooks/useUser.ts git/hooks.go husky.go
lefthook.go renovate.go npmrc.txt mise.go .env.example overlay.nix notes-and-more~1.txt file~ v1~2~3-long notes~10th.md
`

func TestWhatRunsElsewhereOrInstructsAgentsNeedsAPerson(t *testing.T) {
	t.Parallel()
	names := append(strings.Fields(sensitiveExamples), sensitiveDisguises...)
	if len(names) < 60 {
		t.Fatalf("only %d names", len(names))
	}
	for _, name := range names {
		for _, file := range []FileChange{{Path: name, NewMode: "100644"}, {Path: name, OldMode: "100644", NewMode: "000000"}} {
			v := Inspect([]FileChange{file}, 2000)
			if len(v.Flags)+len(v.Refused) == 0 {
				t.Errorf("%q passes", name)
			}
		}
	}
}

func TestOrdinaryNamesPass(t *testing.T) {
	t.Parallel()
	for _, name := range strings.Fields(ordinaryNames) {
		if v := Inspect([]FileChange{{Path: name, NewMode: "100644"}}, 2000); len(v.Flags)+len(v.Refused) > 0 {
			t.Errorf("%q: %q %q", name, v.Flags, v.Refused)
		}
	}
}

func TestARequestIsNotChangedUnasked(t *testing.T) {
	t.Parallel()
	for _, before := range []string{ModeNone, "100644"} { // the run's own, too: it could become another one
		if v := Inspect([]FileChange{{Path: "requests/7.md", OldMode: before, NewMode: "100644"}}, 2000); len(v.Flags) != 1 {
			t.Errorf("mode before %s: %q", before, v.Flags)
		}
	}
}

func TestTheTableOfSensitivePathsIsWellFormed(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, tool := range sensitives {
		if tool.source == "" {
			t.Errorf("%q have no source", tool.names)
		}
		all := append(append(append([]string{}, tool.names...), tool.folders...), tool.paths...)
		if len(all) == 0 {
			t.Errorf("%s: no names", tool.source)
		}
		for _, name := range all {
			if _, err := path.Match(name, ""); err != nil || name != strings.ToLower(name) || seen[name] && name != ".clinerules" {
				t.Errorf("%s: %q is twice, not in small letters, or no pattern", tool.source, name)
			}
			seen[name] = true
		}
	}
}

func TestNamesThatShowSomethingElseNeedAPerson(t *testing.T) {
	t.Parallel()
	for name, shown := range map[string]string{
		"invoice\u202efdp.exe":            `invoice\u202efdp.exe`,
		"a\u200b.go":                      `a\u200b.go`,
		"a\U000e0041.go":                  `a\U000e0041.go`,
		"a\u00a0b":                        `a\u00a0b`,
		"\u3164":                          `\u3164`,
		"z" + strings.Repeat("\u0301", 9): "z" + strings.Repeat("\u0301", 4) + strings.Repeat(`\u0301`, 5),
		"dir\u2066/ordinary.go":           `dir\u2066/ordinary.go`,
		"e\U000e0101.txt":                 `e\U000e0101.txt`,
	} {
		v := Inspect([]FileChange{{Path: name, NewMode: "100644"}}, 2000)
		if len(v.Flags) != 1 || !strings.HasSuffix(v.Flags[0], ": "+shown) {
			t.Errorf("%q: %q", name, v.Flags)
		}
		if v := Inspect([]FileChange{{Path: name, OldMode: "100644", NewMode: "000000"}}, 2000); len(v.Flags) != 0 {
			t.Errorf("%q cannot be removed: %q", name, v.Flags)
		}
	}
	for _, name := range []string{"仕様.md", "Grüße.txt", "e\u0301te\u0301.txt", "Tiếng Việt.md", "日本 語.md"} {
		if v := Inspect([]FileChange{{Path: name, NewMode: "100644"}}, 2000); len(v.Flags) != 0 {
			t.Errorf("%q: %q", name, v.Flags)
		}
	}
}

func TestOddNamesMayGoButNotCome(t *testing.T) {
	t.Parallel()
	for name, shown := range map[string]string{"a\tb": `a\u0009b`, "a\nb": `a\u000ab`, "a\xffb": `a\xffb`, "a\x1b[2Jb": `a\u001b[2Jb`, "a\u009bb": `a\u009bb`} {
		if v := Inspect([]FileChange{{Path: name, OldMode: "100644", NewMode: "000000"}, {Path: "a b", NewMode: "100644"}}, 2000); len(v.Refused)+len(v.Flags) > 0 {
			t.Errorf("%q cannot be renamed: %q %q", name, v.Refused, v.Flags)
		}
		v := Inspect([]FileChange{{Path: name, OldMode: "000000", NewMode: "100644"}}, 2000)
		if len(v.Refused) != 1 || !strings.HasPrefix(v.Refused[0], shown+": ") {
			t.Errorf("%q: %q", name, v.Refused)
		}
	}
}
