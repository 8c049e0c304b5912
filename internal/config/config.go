// Package config owns the settings of a project: what the file
// .signalbox/config.yaml, the environment and the defaults come to. It refuses
// to know what the settings are for, and does not guess: an unknown key, an
// unknown word and a missing agent are errors that name the line or the key.
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
	// Stress is the command of the stress test; empty skips that phase.
	Stress string `yaml:"stress"`
	// Workflow is full, simple, or a list of phases.
	Workflow Lines `yaml:"workflow"`
	// Approve is manual (a person agrees to every merge) or auto.
	Approve string `yaml:"approve"`
	// MaxParallel is how many runs of the project work at once.
	MaxParallel int `yaml:"max_parallel"`
	// Agents are the known agents by name; Roles say which one does what. A single agent does
	// everything unless Roles say otherwise; the name "none" leaves a role out.
	Agents      map[string]Agent  `yaml:"agents"`
	Roles       map[string]string `yaml:"roles"`
	Environment Environment       `yaml:"environment"`
	Limits      Limits            `yaml:"limits"`
	// Secrets are names of environment variables whose values are taken out of everything written.
	Secrets []string `yaml:"secrets"`
}

// Agent is one coding agent.
type Agent struct {
	// Driver is command or replay.
	Driver string `yaml:"driver"`
	// Command is the program and its arguments (driver command). A program with a slash is
	// relative to the project root.
	Command []string `yaml:"command"`
	// Prompt says where the program gets its prompt: stdin or argument (driver command).
	Prompt string `yaml:"prompt"`
	// Env are variables (KEY=value) for the program.
	Env []string `yaml:"env"`
	// Script is the file to replay, relative to the project root (driver replay).
	Script string `yaml:"script"`
}

// Environment says where commands and agents work.
type Environment struct {
	// Driver is clone.
	Driver string `yaml:"driver"`
	// Sandbox is bubblewrap, or none: then commands run on this machine as you.
	Sandbox string `yaml:"sandbox"`
	// Read are host paths that commands may read, beside the system's own. "~/" is the home folder.
	Read []string `yaml:"read"`
	// Variables are what commands get beside PATH and the locale: the name of an environment
	// variable, or NAME=value, where a value may begin with "~/".
	Variables []string `yaml:"variables"`
	// OnFailure of the set-up: continue with a warning, or stop.
	OnFailure string `yaml:"on_failure"`
}

// Limits are the budgets; zero means the default.
type Limits struct {
	ReviewRounds    int           `yaml:"review_rounds"`
	CIFailures      int           `yaml:"ci_failures"`
	SetUpRepairs    int           `yaml:"set_up_repairs"`
	Autofix         int           `yaml:"autofix"`
	ContractRetries int           `yaml:"contract_retries"`
	AgentRetries    int           `yaml:"agent_retries"`
	ActionRetries   int           `yaml:"action_retries"`
	BaseConflicts   int           `yaml:"base_conflicts"`
	MaxDiffLines    int           `yaml:"max_diff_lines"`
	AgentIdle       time.Duration `yaml:"agent_idle"`
	AgentTotal      time.Duration `yaml:"agent_total"`
	TestTotal       time.Duration `yaml:"test_total"`
	SetUpTotal      time.Duration `yaml:"set_up_total"`
	ChecksTotal     time.Duration `yaml:"checks_total"`
}

// Default is the configuration of a project without a file.
func Default() Config {
	return Config{
		Workflow: Lines{"full"}, Approve: ApproveManual, MaxParallel: 2,
		Environment: Environment{Driver: DriverClone, Sandbox: SandboxBubblewrap, OnFailure: OnFailureContinue},
	}
}

// The words that the file may use.
const (
	ApproveManual     = "manual"
	ApproveAuto       = "auto"
	DriverCommand     = "command"
	DriverReplay      = "replay"
	DriverClone       = "clone"
	SandboxBubblewrap = "bubblewrap"
	SandboxNone       = "none"
	PromptStdin       = "stdin"
	PromptArgument    = "argument"
	OnFailureContinue = "continue"
	OnFailureStop     = "stop"
	RoleNone          = "none"
)

// AgentFor is the name of the agent that does a role; ok is false when nobody does.
func (c *Config) AgentFor(role string) (name string, ok bool) {
	name = c.Roles[role]
	if name == "" && len(c.Agents) == 1 {
		for only := range c.Agents {
			name = only
		}
	}
	return name, name != "" && name != RoleNone
}
