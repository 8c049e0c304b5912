package workflow

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/workflow/wording"
)

// The authors of a setup.
const (
	SetUpByConfiguration = "configuration" // the project's own configuration
	SetUpByPlan          = "plan"          // the planner: commands that neither the project's files nor the defaults name
	SetUpByDetection     = "detection"     // the project's files, at the commit where the branch begins
	SetUpByDefault       = "defaults"      // Signalbox, for an environment that the plan names without commands
)

// Statuses of a SetUp, which has none before its end, and of a HandOver.
const (
	SetUpPending   = "pending" // only of a HandOver: the environment is not set up yet
	SetUpSucceeded = "success"
	SetUpFailed    = "failed" // the run continues with a warning, unless the configuration says to stop
)

// SetUp is the plan and the result of setting the environment up. A crash repeats the command that ran; those before it are not repeated.
type SetUp struct {
	Name         string         `json:"environment_name"`
	Commands     []string       `json:"setup_commands"`
	Verification []Verification `json:"verification"`
	// Next is the index of the command to run: commands first, then verification.
	Next   int    `json:"next"`
	Status string `json:"overall_status"` // empty before its end
	// Class is that of the last failure; empty after a success.
	Class FailureClass `json:"error_classification,omitempty"`
	// Errors are the messages of all failures, oldest first.
	Errors []string `json:"errors"`
	// Source is the author of the commands: a SetUpBy…. Agreed is a person's agreement, if the author was a model.
	Source string     `json:"source,omitempty"`
	Agreed *Agreement `json:"agreed,omitempty"`
	// Fingerprint identifies the environment as set up: what it is built on, the lock files, the commands and the verification. It is empty until
	// the environment was restored for this setup.
	Fingerprint string `json:"fingerprint,omitempty"`
	// Warm: it began from the snapshot that the fingerprint names.
	Warm bool `json:"warm,omitempty"`
	// Repaired: the commands were corrected on the way. No snapshot is made, because the corrected commands alone might have a different result.
	Repaired bool `json:"repaired,omitempty"`
	// Ran and Verified are the commands that ended well, in order.
	Ran      []CommandRun `json:"setup_result,omitempty"`
	Verified []CommandRun `json:"verification_result,omitempty"`
	// Untracked are files that the setup wrote outside folders of its own and that git does not ignore. When the agent begins, they are removed, or
	// as they were.
	Untracked []string `json:"loose_files,omitempty"`
	// Dropped says why the snapshot that the fingerprint names could not be used.
	Dropped string `json:"dropped,omitempty"`
	// NetworkRetries counts every wait for the network; the comment on the issue shows it.
	NetworkRetries int     `json:"network_retries,omitempty"`
	Unknown        Unknown `json:",embed"`
}

// Verification is a command whose standard output must be exactly Expected, apart from one trailing newline.
type Verification struct {
	Command  string  `json:"command"`
	Expected string  `json:"expected_output"`
	Unknown  Unknown `json:",embed"`
}

// CommandRun is one command that ended well.
type CommandRun struct {
	Command    string  `json:"command"`
	DurationMS int64   `json:"duration_ms"` // milliseconds
	LogPath    string  `json:"log_path,omitempty"`
	Unknown    Unknown `json:",embed"`
}

// FailureClass says what to do about a failed setup command. It follows from what the command printed.
type FailureClass string

const (
	FailureNetwork FailureClass = "network" // wait 5, 10, 20 s
	FailureServer  FailureClass = "server"  // wait 10 s, three times at most
	FailureLock    FailureClass = "lock"    // another package manager works: wait 3 s, five times at most
	FailureFixable FailureClass = "fixable" // ask the repairer for corrected commands
	FailureFatal   FailureClass = "fatal"   // give up
)

// ChosenSetUp returns the setup: that of the configuration; else the plan's; else what the project's files ask for. Nil means that there is nothing
// to set up.
func (j *Details) ChosenSetUp(planned *PlanSetUp) *SetUp {
	var s SetUp
	switch d := j.Detection; {
	case j.Settings.NoSetUp:
	case len(j.Settings.SetUp)+len(j.Settings.Verification) > 0:
		s = SetUp{Source: SetUpByConfiguration, Commands: j.Settings.SetUp, Verification: j.Settings.Verification}
	case planned != nil:
		s = j.plannedSetUp(planned)
	case d != nil:
		s = SetUp{Source: SetUpByDetection, Commands: d.SetUp, Verification: d.Verification}
	}
	s.Name = cmp.Or(j.Settings.EnvironmentName, s.Name, j.EnvironmentName())
	if len(s.Commands)+len(s.Verification) == 0 && s.Name == j.EnvironmentName() {
		return nil
	}
	return &s
}

// plannedSetUp returns the plan's setup. Parts that the plan leaves out come from the project's files, or from the defaults of the environment that it
// names. If it repeats those word for word, their author is not the model.
func (j *Details) plannedSetUp(p *PlanSetUp) SetUp {
	name := cmp.Or(j.Settings.EnvironmentName, p.Name, DefaultEnvironment)
	s := SetUp{Name: name, Source: SetUpByDefault}
	if d := j.Detection; d != nil && d.Environment == name {
		s.Source, s.Commands, s.Verification = SetUpByDetection, d.SetUp, d.Verification
	} else if d != nil {
		s.Commands, s.Verification = d.Defaults[name].SetUp, d.Defaults[name].Verification
	}
	if len(p.SetupCommands) > 0 && !slices.Equal(p.SetupCommands, s.Commands) {
		s = SetUp{Name: name, Source: SetUpByPlan, Commands: p.SetupCommands}
	}
	same := func(a, b Verification) bool { return a.Command == b.Command && a.Expected == b.Expected }
	if len(p.Verification) > 0 && !slices.EqualFunc(p.Verification, s.Verification, same) {
		s.Source, s.Verification = SetUpByPlan, p.Verification
	}
	return s
}

// BeginAgain forgets how far the setup got, as in a new environment.
func (s *SetUp) BeginAgain() {
	if s == nil {
		return
	}
	s.Next, s.Status, s.Fingerprint, s.Warm, s.Ran, s.Verified = 0, "", "", false, nil, nil
}

// LastError returns the message of the last failure; empty if there is none.
func (s *SetUp) LastError() string {
	if len(s.Errors) == 0 {
		return ""
	}
	return s.Errors[len(s.Errors)-1]
}

// Why returns the last failure on one line.
func (s *SetUp) Why() string { return wording.FirstLine(s.LastError()) }

// Failure says on one line that the setup failed and why; empty unless it did.
func (s *SetUp) Failure() string {
	if s == nil || s.Status != SetUpFailed {
		return ""
	}
	return "the environment's setup failed: " + s.Why()
}

// Agreement is a person's consent to tests that run on a setup that a model wrote. Such a setup could export a PATH or a function that makes any
// test pass, so it proves nothing until a person has seen its commands.
type Agreement struct {
	// Content is the SetUp.Content that was agreed to: another command is another content.
	Content string    `json:"content"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Unknown Unknown   `json:",embed"`
}

// Content returns an id of what a setup runs and where: its environment's name, its commands, and its verification, which runs in the same shell. It
// is a SHA-256 in hex.
func (s *SetUp) Content() string {
	type verification struct{ Command, Expected string }
	content := struct {
		Name         string
		Commands     []string
		Verification []verification
	}{Name: s.Name, Commands: append([]string{}, s.Commands...), Verification: []verification{}}
	for _, v := range s.Verification {
		content.Verification = append(content.Verification, verification{v.Command, v.Expected})
	}
	data, err := json.Marshal(content)
	if err != nil {
		panic(fmt.Sprintf("workflow: encode setup: %v", err)) // strings always encode
	}
	sum := sha256.Sum256(data)
	return fmt.Sprintf("%x", sum)
}

// NeedsAgreement reports whether tests would run on a model's setup that no person agreed to. Corrected commands count as a model's whatever they
// say, because the model tried until they passed. A setup that failed needs no one: the tests that decide run without it.
func (s *SetUp) NeedsAgreement() bool {
	byModel := s != nil && (s.Source == SetUpByPlan || s.Repaired)
	return byModel && s.Status == SetUpSucceeded && (s.Agreed == nil || s.Agreed.Content != s.Content())
}

// Question asks a person to agree, and names in full what they agree to, one command a line.
func (s *SetUp) Question() string {
	var b strings.Builder
	fmt.Fprintf(&b, "a model wrote how the environment %q is set up, and the tests run on what that leaves.\n"+
		"To approve is to agree to exactly these commands, in later runs too:", s.Name)
	for _, line := range s.Shown() {
		b.WriteString("\n    " + line)
	}
	return b.String()
}

// Shown returns the commands in full and in order, one line each. A command with a character that can't be seen is quoted as in Go: a terminal must
// hide no part of it.
func (s *SetUp) Shown() (lines []string) {
	visible := func(command string) string {
		if strings.ContainsFunc(command, func(r rune) bool { return !strconv.IsPrint(r) || r == '\uFFFD' }) {
			return strconv.Quote(command)
		}
		return command
	}
	for _, command := range s.Commands {
		lines = append(lines, visible(command))
	}
	for _, v := range s.Verification {
		lines = append(lines, visible(v.Command)+"   (verification, prints "+strconv.Quote(v.Expected)+")")
	}
	return lines
}
