// Package config owns the settings of a project: the file .signalbox/config.yaml, the environment and the defaults combined. It doesn't know what
// the settings are for, and never guesses: an unknown key, an unknown word or a missing agent is an error that names the line or the key.
package config

import (
	"time"
)

// Name is the file's path relative to the project root.
const Name = ".signalbox/config.yaml"

// Config is the project's file.
type Config struct {
	// Base is the branch to merge into; empty means the branch checked out when a run starts.
	Base string `yaml:"base"`
	// Tests are the project's test commands, one line each for sh.
	Tests Lines `yaml:"tests"`
	// TestsE2E are the end-to-end tests, lines for sh too. They run after Tests where a change has to pass.
	TestsE2E Lines `yaml:"tests_e2e"`
	// Stress is the command of the stress test; empty skips that phase.
	Stress string `yaml:"stress"`
	// Workflow is full, simple, or a list of phases.
	Workflow Lines `yaml:"workflow"`
	// Approve is manual (a person agrees to every merge), auto, or forge (a person approves the pull request on the forge).
	Approve string `yaml:"approve"`
	// Push is auto (branches and merges are pushed to the remote origin, if there is one) or never: then origin is not contacted.
	Push string `yaml:"push"`
	// MaxParallel is how many runs of the project may run at once.
	MaxParallel int `yaml:"max_parallel"`
	// Agents are the agents by name; Roles say which one does what. A single agent does everything unless Roles say otherwise; the name "none"
	// disables a role.
	Agents map[string]Agent `yaml:"agents"`
	Roles  map[string]Role  `yaml:"roles"`
	// Workflows are the settings of single workflows, by name: full, simple, heal, or custom (a list of phases).
	Workflows   map[string]Workflow `yaml:"workflows"`
	Environment Environment         `yaml:"environment"`
	Limits      Limits              `yaml:"limits"`
	Commit      Commit              `yaml:"commit"`
	Forge       Forge               `yaml:"forge"`
	Health      Health              `yaml:"health"`
	Notify      Notify              `yaml:"notify"`
	// KeepStatuses is how long .worktrees/.status keeps finished issues without a folder; 0 means forever.
	KeepStatuses time.Duration `yaml:"keep_statuses"`
	// Secrets are the names of environment variables whose values are removed from everything that is written.
	Secrets []string `yaml:"secrets"`
}

// Commit says what the commits of a run contain besides your name.
type Commit struct {
	// Sign is auto (as git signs yours: commit.gpgSign), always or never.
	Sign string `yaml:"sign"`
	// SignOff adds your Signed-off-by.
	SignOff bool `yaml:"signoff"`
	// Trailer says how the commits name the agents: assisted-by, co-authored-by or none.
	Trailer string `yaml:"trailer"`
}

// Environment says where commands and agents run.
type Environment struct {
	// Driver is clone (on this machine, in a sandbox) or container (Docker).
	Driver string `yaml:"driver"`
	// Sandbox is bubblewrap or none; with none, commands run on this machine as you.
	Sandbox string `yaml:"sandbox"`
	// UserNamespaces lets programs in bubblewrap make user namespaces, which their own sandboxes need: a browser's, Bazel's, rootless containers.
	UserNamespaces bool `yaml:"user_namespaces"`
	// Read are host paths that commands may read, besides the system's own. "~/" is the home folder.
	Read []string `yaml:"read"`
	// Variables are what commands get besides PATH and the locale: the name of an environment variable, or NAME=value, where a value may begin with
	// "~/".
	Variables []string `yaml:"variables"`
	// OnFailure says what follows a failed setup: continue with a warning, or stop.
	OnFailure string `yaml:"on_failure"`

	// Network says what commands can reach: registries (package registries, the hosts in Variables, and Allow), none, or full (everything this
	// machine reaches).
	Network string `yaml:"network"`
	// Allow are additional hosts that commands may reach if Network is registries: "api.example.org", ".example.org" for all below it,
	// "10.0.0.7:5432".
	Allow []string `yaml:"allow"`
	// Submodules checks out submodules in every environment; otherwise their folders are empty.
	Submodules bool `yaml:"submodules"`
	// Memory in bytes (or with K, M, G), CPUs (1.5 is one and a half) and Processes (threads count) limit a command and everything it starts, or a
	// container as a whole; zero means no limit.
	Memory    Bytes   `yaml:"memory"`
	CPUs      float64 `yaml:"cpus"`
	Processes int     `yaml:"processes"`

	// Name, SetUp and Verify are the project's own setup. A value given here is neither detected nor planned.
	Name   string         `yaml:"name"`
	SetUp  Lines          `yaml:"set_up"`
	Verify []Verification `yaml:"verify"`

	// Image is the image of every container; Images has one for each environment's name;
	// Dockerfile (relative to the project root) is built instead of either.
	Image      string            `yaml:"image"`
	Images     map[string]string `yaml:"images"`
	Dockerfile string            `yaml:"dockerfile"`
	// Capabilities are those of Docker's default capabilities that programs in containers keep: none unless named. Installing system packages needs
	// CHOWN, DAC_OVERRIDE, FOWNER, SETGID and SETUID.
	Capabilities []string `yaml:"capabilities"`
	// Warm is on (a run starts from a verified cached environment, and its own is cached), shared (the cached dependency folders are shared
	// read-only) or off.
	Warm string `yaml:"warm"`
	// Cache is how much disk cached environments may take, in bytes. The least recently used are deleted first; 0 caches none.
	Cache Bytes `yaml:"cache"`
}

// Verification is a command whose standard output must be exactly Expect, except for one trailing newline.
type Verification struct {
	Command string `yaml:"command"`
	Expect  string `yaml:"expect"`
}

// Limits are the budgets; zero means the default.
type Limits struct {
	ReviewRounds    int `yaml:"review_rounds"`
	CIFailures      int `yaml:"ci_failures"`
	SetUpRepairs    int `yaml:"set_up_repairs"`
	Autofix         int `yaml:"autofix"`
	ContractRetries int `yaml:"contract_retries"`
	AgentRetries    int `yaml:"agent_retries"`
	ActionRetries   int `yaml:"action_retries"`
	BaseConflicts   int `yaml:"base_conflicts"`
	MaxDiffLines    int `yaml:"max_diff_lines"`
	// Tokens, CostUSD and Calls are what the agents of one run may use before a person is asked. PerDay is what those of all runs may use in a day
	// (UTC); then runs wait for the next day.
	Tokens     int64         `yaml:"tokens"`
	CostUSD    float64       `yaml:"cost_usd"`
	Calls      int           `yaml:"calls"`
	PerDay     Spending      `yaml:"per_day"`
	AgentIdle  time.Duration `yaml:"agent_idle"`
	AgentTotal time.Duration `yaml:"agent_total"`
	// AnswerWithin is how long an agent's question waits before it counts as denied.
	AnswerWithin time.Duration `yaml:"answer_within"`
	TestTotal    time.Duration `yaml:"test_total"`
	SetUpTotal   time.Duration `yaml:"set_up_total"`
	ChecksTotal  time.Duration `yaml:"checks_total"`
}

// Spending is what agents may use; zero means no limit.
type Spending struct {
	Tokens  int64   `yaml:"tokens"`
	CostUSD float64 `yaml:"cost_usd"`
	Calls   int     `yaml:"calls"`
}

// Default returns the configuration of a project without a file.
func Default() Config {
	return Config{
		Workflow: Lines{"full"}, Approve: ApproveManual, Push: PushAuto, MaxParallel: 2, Commit: Commit{Sign: "auto", Trailer: "assisted-by"},
		Forge: Forge{Driver: ForgeLocal, Merge: MergeAuto, Fork: ForkAuto, CI: CIAuto, Draft: true, Language: LanguageEnglish, Label: "signalbox"},
		Environment: Environment{Driver: DriverClone, Sandbox: SandboxBubblewrap, OnFailure: OnFailureContinue,
			Network: NetworkRegistries, Submodules: true, Warm: WarmOn, Cache: 20 << 30},
	}
}

// The values that the file may use.
const (
	ApproveManual = "manual"
	ApproveAuto   = "auto"
	ApproveForge  = "forge"

	PushAuto       = "auto"
	PushNever      = "never"
	DriverCommand  = "command"
	DriverReplay   = "replay"
	DriverClaude   = "claude"
	DriverCodex    = "codex"
	DriverOpencode = "opencode"
	DriverPi       = "pi"
	DriverGemini   = "gemini"
	LoginKey       = "key"
	LoginOwn       = "own"

	PermissionsEverything = "everything"
	PermissionsEdits      = "edits"
	PermissionsReadOnly   = "read-only"
	PermissionsAsk        = "ask"

	DriverClone       = "clone"
	DriverContainer   = "container"
	SandboxBubblewrap = "bubblewrap"
	SandboxNone       = "none"
	PromptStdin       = "stdin"
	PromptArgument    = "argument"
	OnFailureContinue = "continue"
	OnFailureStop     = "stop"
	RoleNone          = "none"
	NetworkRegistries = "registries"
	NetworkNone       = "none"
	NetworkFull       = "full"
	WarmOn            = "on"
	WarmShared        = "shared"
	WarmOff           = "off"
)
