package workflow

import (
	"cmp"
	"slices"
)

// Detection is what a project's own files say of its environment (P1, P2, P10).
type Detection struct {
	// Environment is the name of the environment that fits, Reason why, one line.
	Environment string   `json:"environment_type"`
	Reason      string   `json:"reason,omitempty"`
	Files       []string `json:"detected_files"`
	// Language is the task's. It decides if several environments fit; empty if the task has none.
	Language string `json:"language,omitempty"`
	// SetUp are the commands, empty if nothing needs to be set up; Source is what says so.
	SetUp        []string       `json:"setup_commands"`
	Source       string         `json:"source,omitempty"`
	Verification []Verification `json:"verification,omitempty"`
	// Defaults are the setups of the environments that were not chosen, by name.
	Defaults map[string]DefaultSetUp `json:"defaults,omitempty"`
	// Image is what the project itself says its containers start from; see environment.Spec.
	Image string `json:"image,omitempty"`
	// Locks is a digest of all files that say what gets installed.
	Locks   string   `json:"locks,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	Unknown Unknown  `json:",embed"`
}

// DefaultSetUp is how an environment is set up that a plan names without commands (P3).
type DefaultSetUp struct {
	SetUp        []string       `json:"setup_commands"`
	Verification []Verification `json:"verification,omitempty"`
	Unknown      Unknown        `json:",embed"`
}

// Statuses of a SetUp, which has none before its end, and of a HandOver.
const (
	SetUpPending   = "pending" // of a HandOver alone: the environment is not set up yet
	SetUpSucceeded = "success"
	SetUpFailed    = "failed"
)

// SetUp is the set-up sub-phase's plan and result (P5–P8).
type SetUp struct {
	Name         string         `json:"environment_name"`
	Commands     []string       `json:"setup_commands"`
	Verification []Verification `json:"verification"`
	// Next is the index of the command to run: commands first, then verification.
	Next   int    `json:"next"`
	Status string `json:"overall_status"` // empty before its end
	// Class of the last failure (P6): the FailureClass, empty after a success.
	Class  FailureClass `json:"error_classification,omitempty"`
	Errors []string     `json:"errors"`
	// Source is who says how it is set up: a SetUpBy…; Agreed who agreed to it where that was a model.
	Source string     `json:"source,omitempty"`
	Agreed *Agreement `json:"agreed,omitempty"`
	// Fingerprint is that of the environment as set up: what it stands on, the lock files, the
	// commands and the verification. Empty until the environment was renewed for this set-up.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Warm: it began from an environment that was kept under the fingerprint.
	Warm bool `json:"warm,omitempty"`
	// Repaired: the commands were corrected on the way, so that what they came to is not
	// what they alone would come to, and is not kept.
	Repaired bool `json:"repaired,omitempty"`
	// Ran and Verified are the commands that ended well, in order (P8).
	Ran      []CommandRun `json:"setup_result,omitempty"`
	Verified []CommandRun `json:"verification_result,omitempty"`
	// Untracked are files that the set-up wrote outside of folders of its own and that git does not
	// ignore: they are gone, or as they were, when the agent begins.
	Untracked []string `json:"loose_files,omitempty"`
	// Dropped says why the environment that was kept under the fingerprint did not do.
	Dropped string `json:"dropped,omitempty"`
	// NetworkRetries counts every wait for the network, for the comment of P7.
	NetworkRetries int     `json:"network_retries,omitempty"`
	Unknown        Unknown `json:",embed"`
}

// Verification is a command whose standard output must be exactly Expected,
// apart from one trailing newline (P5).
type Verification struct {
	Command  string  `json:"command"`
	Expected string  `json:"expected_output"`
	Unknown  Unknown `json:",embed"`
}

// CommandRun is one command that ended well.
type CommandRun struct {
	Command    string  `json:"command"`
	DurationMS int64   `json:"duration_ms"`
	LogPath    string  `json:"log_path,omitempty"`
	Unknown    Unknown `json:",embed"`
}

// HandOver is what the execution is told of the environment (P8).
type HandOver struct {
	Ready  bool     `json:"environment_ready"`
	Name   string   `json:"environment_name"`
	Status string   `json:"setup_status"`
	Errors []string `json:"errors"`
}

// HandOver is what the set-up came to; an environment without a set-up is ready as it is.
func (j *Details) HandOver() HandOver {
	if j.SetUp == nil && j.Phase <= DesignCheck {
		return HandOver{Name: j.EnvironmentName(), Status: SetUpPending, Errors: []string{}}
	}
	if j.SetUp == nil {
		return HandOver{Ready: true, Name: j.EnvironmentName(), Status: SetUpSucceeded, Errors: []string{}}
	}
	h := HandOver{Ready: j.SetUp.Status == SetUpSucceeded, Name: j.SetUp.Name, Status: j.SetUp.Status, Errors: []string{}}
	if !h.Ready {
		h.Errors = slices.Concat(h.Errors, j.SetUp.Errors)
	}
	return h
}

// Language is the language of the run's task, as it was detected with.
func (j *Details) Language() string {
	if j.Detection == nil {
		return ""
	}
	return j.Detection.Language
}

// DefaultEnvironment is the name of the environment where nothing speaks for another (P2).
const DefaultEnvironment = "python"

// EnvironmentName is the name of the environment that the run works in, as far as it is known.
func (j *Details) EnvironmentName() string {
	name := j.Settings.EnvironmentName
	if name == "" && j.SetUp != nil {
		name = j.SetUp.Name
	}
	if name == "" && j.Detection != nil {
		name = j.Detection.Environment
	}
	return cmp.Or(name, DefaultEnvironment)
}

// Image is the container image of the run's environment; empty leaves it to the driver.
func (j *Details) Image() string {
	name, own := j.EnvironmentName(), ""
	if j.Detection != nil && j.Detection.Environment == name {
		own = j.Detection.Image
	}
	return cmp.Or(j.Settings.Image, own, j.Settings.Images[name])
}

// BeginAgain forgets how far the set-up got, as in an environment that is made anew.
func (s *SetUp) BeginAgain() {
	if s == nil {
		return
	}
	s.Next, s.Status, s.Fingerprint, s.Warm, s.Ran, s.Verified = 0, "", "", false, nil, nil
}

// FailureClass says what to do about a failed set-up command (P6).
type FailureClass string

const (
	FailureNetwork FailureClass = "network" // wait 5, 10, 20 s
	FailureServer  FailureClass = "server"  // wait 10 s, three times at most
	FailureLock    FailureClass = "lock"    // wait 3 s, five times at most
	FailureFixable FailureClass = "fixable" // ask the model
	FailureFatal   FailureClass = "fatal"   // give up
)

// The TCP ports that environments share, below the range that the kernel hands out itself.
const (
	firstPort           = 10000
	portsPerEnvironment = 10
	portRanges          = 2276
)

// Ports are the first and the last of the TCP ports that belong to the environment of the
// request by that number. They are always the same; requests that are 2,276 apart share them.
func Ports(number int) (first, last int) {
	first = firstPort + number%portRanges*portsPerEnvironment
	return first, first + portsPerEnvironment - 1
}
