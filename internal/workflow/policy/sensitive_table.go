package policy

// sensitive lists files of one tool that make programs run on other machines or on a forge, select the programs and packages for
// that, instruct agents, or decide who must agree to a change. A person must agree to a change of one.
type sensitive struct {
	// source is the public documentation that says so.
	source string
	// names are base names, in which "*" stands for any characters. folders are one part of the path, or two with a slash. Both
	// count at any depth, because most tools look in every folder or upwards.
	names, folders []string
	// paths start at the root of the project. One with a slash at its end is a folder with everything below it.
	paths []string
}

// sensitives is the table. Write it in lowercase: sensitivePath folds a path before it compares.
var sensitives = []sensitive{
	// Pipelines and deployments that a forge or a service starts when a file changes.
	{source: "GitHub docs: .github, workflows, actions, CODEOWNERS, dependabot.yml; metadata syntax of an action", names: []string{"action.yml", "action.yaml"}, folders: []string{".github"}},
	{source: "GitLab docs: CI/CD YAML, .gitlab folder", names: []string{".gitlab-ci.yml", ".gitlab-ci.yaml", "*.gitlab-ci.yml"}, folders: []string{".gitlab", ".gitlab-ci"}},
	{source: "Gitea and Forgejo docs: Actions", folders: []string{".gitea", ".forgejo"}},
	{source: "Azure Pipelines docs: azure-pipelines.yml", names: []string{"azure-pipelines*.yml", "azure-pipelines*.yaml", ".vsts-ci.yml"}, folders: []string{".azure-pipelines", ".azuredevops", ".pipelines"}},
	{source: "Bitbucket docs: bitbucket-pipelines.yml", names: []string{"bitbucket-pipelines.yml"}},
	{source: "CircleCI docs: .circleci/config.yml", folders: []string{".circleci"}, names: []string{"circle.yml"}},
	{source: "Travis CI docs: .travis.yml", names: []string{".travis.yml"}},
	{source: "Drone docs: configuration", names: []string{".drone.yml", ".drone.yaml", ".drone.jsonnet", ".drone.star"}},
	{source: "Woodpecker docs: workflow syntax", names: []string{".woodpecker.yml", ".woodpecker.yaml"}, folders: []string{".woodpecker"}},
	{source: "Buildkite docs: pipeline upload", folders: []string{".buildkite"}, names: []string{"buildkite.yml", "buildkite.yaml"}},
	{source: "AppVeyor docs: appveyor.yml", names: []string{"appveyor.yml", ".appveyor.yml"}},
	{source: "Semaphore docs: pipeline YAML", folders: []string{".semaphore"}},
	{source: "Google Cloud Build docs: build configuration", names: []string{"cloudbuild*.yaml", "cloudbuild*.yml", "cloudbuild*.json"}},
	{source: "Jenkins docs: Pipeline, Jenkinsfile", names: []string{"jenkinsfile", "jenkinsfile.*", "*.jenkinsfile"}},
	{source: "Cirrus CI docs: .cirrus.yml", names: []string{".cirrus.yml", ".cirrus.star"}},
	{source: "AWS CodeBuild docs: buildspec", names: []string{"buildspec*.yml", "buildspec*.yaml"}},
	{source: "AWS Amplify and App Runner docs: amplify.yml, apprunner.yaml", names: []string{"amplify.yml", "apprunner.yaml"}},
	{source: "SourceHut docs: builds.sr.ht manifests", names: []string{".build.yml"}, folders: []string{".builds"}},
	{source: "Pipelines as Code docs: .tekton", folders: []string{".tekton"}},
	{source: "TeamCity docs: settings in version control", folders: []string{".teamcity"}},
	{source: "Harness docs: .harness", folders: []string{".harness"}},
	{source: "Codefresh, Wercker, Shippable, Bitrise, Codemagic docs", names: []string{"codefresh.yml", "wercker.yml", "shippable.yml", "bitrise.yml", "codemagic.yaml"}, folders: []string{".codefresh"}},
	{source: "Codeship docs: services and steps", names: []string{"codeship-services.yml", "codeship-steps.yml"}},
	{source: "Zuul docs: project configuration", names: []string{".zuul.yaml", "zuul.yaml"}, folders: []string{".zuul.d", "zuul.d"}},
	{source: "Prow docs: in-repo configuration", names: []string{".prow.yaml"}, folders: []string{".prow"}},
	{source: "Packit and Copr docs", names: []string{".packit.yaml", ".packit.yml"}, folders: []string{".copr"}},
	{source: "GitLab Auto DevOps and common use: .ci, .auto-deploy-values", folders: []string{".ci"}},
	{source: "Read the Docs: configuration file", names: []string{".readthedocs.yml", ".readthedocs.yaml"}},
	{source: "Netlify, Vercel, Render, Railway docs: builds on push", names: []string{"netlify.toml", "vercel.json", "render.yaml", "railway.json", "railway.toml"}},
	{source: "GoReleaser and semantic-release docs: hooks of a release", names: []string{".goreleaser.y*ml", "goreleaser.y*ml", ".releaserc*", "release.config.*"}},
	{source: "Fly.io and Tilt docs: fly.toml, Tiltfile", names: []string{"fly.toml", "tiltfile"}},
	{source: "Cloudflare and Firebase docs: wrangler and firebase configuration, with build and deploy hooks", names: []string{"wrangler.toml", "wrangler.json", "wrangler.jsonc", "firebase.json", ".firebaserc"}},
	{source: "Skaffold, Atlantis, Serverless Framework docs: hooks, workflows, plug-ins", names: []string{"skaffold.yaml", "skaffold.yml", "atlantis.yaml", "serverless.y*ml", "serverless.ts", "serverless.js", "serverless.json"}},
	{source: "AWS Elastic Beanstalk docs: .ebextensions", folders: []string{".ebextensions", ".elasticbeanstalk"}},
	{source: "fastlane docs: Fastfile; Danger docs: Dangerfile", names: []string{"fastfile", "dangerfile", "dangerfile.*"}, folders: []string{"fastlane"}},
	{source: "Heroku docs: Procfile, heroku.yml, release phase", names: []string{"procfile", "heroku.yml"}},
	{source: "DigitalOcean docs: app spec", paths: []string{".do/"}},
	{source: "Platform.sh docs: .platform", names: []string{".platform.app.yaml"}, folders: []string{".platform", ".upsun"}},
	{source: "Gitpod and Ona docs: .gitpod.yml", names: []string{".gitpod.yml", ".gitpod.dockerfile"}, folders: []string{".gitpod", ".ona"}},

	// Hooks that run on the machine of everyone who commits.
	{source: "Husky docs", folders: []string{".husky"}, names: []string{".huskyrc*"}},
	{source: "pre-commit and prek docs", names: []string{".pre-commit-config.yaml", ".pre-commit-config.yml", ".pre-commit-hooks.yaml", "prek.toml"}},
	{source: "Lefthook docs: configuration", names: []string{"lefthook.y*ml", "lefthook.toml", "lefthook.json*", ".lefthook.*", "lefthook-local.*", ".lefthook-local.*"}, folders: []string{".lefthook", ".lefthook-local"}},
	{source: "Overcommit docs", names: []string{".overcommit.yml"}, folders: []string{".git-hooks"}},
	{source: "git docs: core.hooksPath, the folders in common use", folders: []string{".githooks", ".hooks", "git-hooks", "githooks"}},
	{source: "lint-staged docs: configuration", names: []string{".lintstagedrc*", "lint-staged.config.*"}},
	{source: "simple-git-hooks docs", names: []string{".simple-git-hooks.*", "simple-git-hooks.*"}},
	{source: "CaptainHook and GrumPHP docs", names: []string{"captainhook.json", "grumphp.yml", "grumphp.yml.dist"}},
	{source: "hk docs", names: []string{"hk.pkl"}},

	// Instructions and settings of agents.
	{source: "agents.md; Codex docs: AGENTS.override.md", names: []string{"agents.md", "agents.override.md", "agent.md"}, folders: []string{".agents", ".agent"}},
	{source: "Claude Code docs: memory, settings, MCP", names: []string{"claude.md", "claude.local.md", ".mcp.json", ".claude.json"}, folders: []string{".claude", ".claude-plugin"}},
	{source: "Codex docs: configuration", folders: []string{".codex"}},
	{source: "Gemini CLI docs: GEMINI.md, settings, .geminiignore", names: []string{"gemini.md", ".geminiignore"}, folders: []string{".gemini"}},
	{source: "Qwen Code docs", names: []string{"qwen.md"}, folders: []string{".qwen"}},
	{source: "OpenCode docs: configuration", names: []string{"opencode.json", "opencode.jsonc"}, folders: []string{".opencode"}},
	{source: "pi docs: project settings, SYSTEM.md", folders: []string{".pi"}},
	{source: "Cursor docs: rules, MCP, hooks", names: []string{".cursorrules", ".cursorignore"}, folders: []string{".cursor"}},
	{source: "Windsurf docs: rules", names: []string{".windsurfrules", ".codeiumignore"}, folders: []string{".windsurf", ".codeium", ".devin"}},
	{source: "Cline docs: .clinerules", names: []string{".clinerules", ".clineignore"}, folders: []string{".clinerules", ".cline"}},
	{source: "Roo Code docs: custom instructions and modes", names: []string{".roorules*", ".roomodes", ".rooignore"}, folders: []string{".roo"}},
	{source: "Kilo Code docs", names: []string{".kilocodemodes"}, folders: []string{".kilocode", ".kilo"}},
	{source: "Continue docs: rules", names: []string{".continuerules"}, folders: []string{".continue"}},
	{source: "Aider docs: configuration file", names: []string{".aider.conf.yml", ".aiderignore", ".aider.model.settings.yml"}},
	{source: "Copilot docs: custom instructions", names: []string{"copilot-instructions.md"}, folders: []string{".copilot"}},
	{source: "Junie and JetBrains AI docs: guidelines", folders: []string{".junie", ".aiassistant"}},
	{source: "Amazon Q and Kiro docs: rules, steering", folders: []string{".amazonq", ".kiro"}},
	{source: "Augment docs: guidelines", names: []string{".augment-guidelines"}, folders: []string{".augment"}},
	{source: "goose docs: .goosehints", names: []string{".goosehints", ".gooseignore"}, folders: []string{".goose"}},
	{source: "Crush docs: configuration", names: []string{"crush.json", ".crush.json"}, paths: []string{"crush.md"}, folders: []string{".crush"}},
	{source: "Factory, Trae, Amp, OpenHands, Firebender docs", folders: []string{".factory", ".trae", ".amp", ".openhands"}, names: []string{"firebender.json"}},
	{source: "Warp docs: WARP.md; Zed docs: .rules; Replit docs: .replit", names: []string{".rules", ".replit", "replit.nix"}, paths: []string{"warp.md", "replit.md"}},

	// Where packages and build programs come from, and what they run without being told to.
	{source: "npm docs: .npmrc", names: []string{".npmrc"}},
	{source: "Yarn docs: .yarnrc.yml, releases and plugins", names: []string{".yarnrc", ".yarnrc.yml"}, folders: []string{".yarn"}},
	{source: "pnpm docs: .pnpmfile, pnpm-workspace.yaml", names: []string{".pnpmfile.*", "pnpmfile.*", "pnpm-workspace.yaml"}},
	{source: "Bun docs: bunfig.toml", names: []string{"bunfig.toml", ".bunfig.toml"}},
	{source: "pip, uv, Poetry, conda, twine docs: configuration", names: []string{"pip.conf", "pip.ini", "uv.toml", "poetry.toml", ".condarc", ".pypirc"}},
	{source: "Cargo docs: configuration; rustup docs: toolchain file", names: []string{"rust-toolchain", "rust-toolchain.toml"}, folders: []string{".cargo"}},
	{source: "NuGet docs: nuget.config", names: []string{"nuget.config"}},
	{source: "Gradle docs: wrapper, init scripts", names: []string{"gradlew", "gradlew.bat", "gradle-wrapper.*", "init.gradle", "init.gradle.kts"}},
	{source: "Maven docs: wrapper, .mvn", names: []string{"mvnw", "mvnw.cmd"}, folders: []string{".mvn"}},
	{source: "sbt and Mill docs: options files", names: []string{".sbtopts", ".jvmopts", ".mill-jvm-opts"}},
	{source: "Bazel docs: .bazelrc; Bazelisk docs: tools/bazel", names: []string{".bazelrc", "*.bazelrc", ".bazelversion", ".bazeliskrc"}, paths: []string{"tools/bazel"}},
	{source: "Buck docs: .buckconfig", names: []string{".buckconfig", ".buckconfig.d"}},
	{source: "RubyGems and Bundler docs: configuration", names: []string{".gemrc"}, folders: []string{".bundle"}},
	{source: "Composer docs: auth.json", names: []string{"auth.json"}},
	{source: "Swift Package Manager docs: registries and mirrors", folders: []string{".swiftpm"}},
	{source: "Terraform docs: CLI configuration", names: []string{".terraformrc", "terraform.rc"}},
	{source: "curl and wget docs: .netrc, .curlrc, .wgetrc", names: []string{".netrc", "_netrc", ".curlrc", "_curlrc", ".wgetrc"}},

	// What a shell, an editor or a container runs when a person enters the folder.
	{source: "direnv docs: .envrc", names: []string{".envrc"}, folders: []string{".direnv"}},
	{source: "mise docs: configuration", names: []string{"mise.toml", ".mise.toml", "mise.*.toml", ".mise.*.toml", ".rtx.toml"}, folders: []string{".mise", ".config/mise"}, paths: []string{"mise/"}},
	{source: "asdf docs: .tool-versions", names: []string{".tool-versions", ".asdfrc"}},
	{source: "Nix and devenv docs", names: []string{"flake.nix", "shell.nix", "default.nix", "devenv.nix", "devenv.yaml", "devenv.local.nix"}},
	{source: "Devbox and Flox docs", names: []string{"devbox.json"}, folders: []string{".flox"}},
	{source: "Autoenv and zsh-autoenv docs", names: []string{".autoenv", ".autoenv.zsh", ".autoenv.leave"}},
	{source: "Development Containers specification", names: []string{".devcontainer.json", "devcontainer.json"}, folders: []string{".devcontainer"}},
	{source: "Devfile docs", names: []string{"devfile.yaml", ".devfile.yaml"}},
	{source: "Visual Studio Code docs: workspace settings, tasks", names: []string{"*.code-workspace"}, folders: []string{".vscode", ".vs"}},
	{source: "JetBrains docs: project settings, run configurations", folders: []string{".idea", ".run", ".fleet"}},
	{source: "Zed, Nova, Helix docs: project settings", folders: []string{".zed", ".nova", ".helix"}},
	{source: "Vim and Neovim docs: exrc", names: []string{".vimrc", ".exrc", ".nvimrc", ".nvim.lua", ".lvimrc", ".gvimrc"}},
	{source: "Emacs docs: directory variables", names: []string{".dir-locals.el", ".dir-locals-2.el"}},
	{source: "GDB and LLDB docs: initialization files", names: []string{".gdbinit", ".lldbinit"}},
	{source: "R docs: Startup", names: []string{".rprofile", ".renviron", "rprofile.site"}},
	{source: "irb, Pry, GHCi, OCaml, IEx, Octave, pdb docs: startup files", names: []string{".irbrc", "irbrc", ".pryrc", ".ghci", ".ocamlinit", ".iex.exs", ".octaverc", ".pdbrc"}},
	{source: "psql and sqlite3 docs: startup files", names: []string{".psqlrc", "psqlrc", ".sqliterc"}},
	{source: "Vagrant docs: Vagrantfile", names: []string{"vagrantfile"}},
	{source: "bash and zsh docs: startup files", names: []string{".bash_profile", ".bash_login", ".bashrc", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout"}},
	{source: "Sublime Text docs: projects", names: []string{"*.sublime-project"}},

	// git's own.
	{source: "git docs: gitattributes, gitmodules, included configuration", names: []string{".gitattributes", ".gitmodules", ".gitconfig"}},
	{source: "Mercurial docs: hgrc, which names hooks", names: []string{".hgrc"}, folders: []string{".hg"}},
	{source: "Git LFS docs: .lfsconfig", names: []string{".lfsconfig"}},

	// Who must agree to a change, and what agrees automatically.
	{source: "Forges' docs: CODEOWNERS; Prow docs: OWNERS", names: []string{"codeowners", "owners", "owners_aliases"}},
	{source: "Renovate and Dependabot docs: configuration", names: []string{"renovate.json", "renovate.json5", ".renovaterc*", "dependabot.yml", "dependabot.yaml"}, folders: []string{".dependabot"}},
	{source: "Mergify, Bors, Kodiak, Bulldozer, Policy Bot docs", names: []string{".mergify.yml", "bors.toml", ".kodiak.toml", ".bulldozer.yml", ".policy.yml"}, folders: []string{".mergify"}},
	{source: "CodeRabbit docs: .coderabbit.yaml, which says what is reviewed", names: []string{".coderabbit.y*ml"}},
	{source: "RuboCop docs: configuration, which requires Ruby files", names: []string{".rubocop.yml", ".rubocop_todo.yml"}},
	{source: "ASF docs: .asf.yaml", names: []string{".asf.yaml"}},
	{source: "Scala Steward and PyUp docs", names: []string{".scala-steward.conf", ".pyup.yml"}},
	{source: "Gitleaks docs: what is not reported", names: []string{".gitleaks.toml", ".gitleaksignore"}},

	// Signalbox's own: the next request, and which ignored files an environment gets. Inspect refuses the rest.
	{source: "Signalbox: requests, .worktreeinclude", names: []string{".worktreeinclude"}, paths: []string{"requests/"}},
}
