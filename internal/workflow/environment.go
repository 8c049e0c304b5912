package workflow

import (
	"cmp"
	"slices"
	"strings"

	"signalbox/internal/workflow/wording"
)

// Detection is what a project's own files say about its environment.
type Detection struct {
	// Environment is the name of the environment that fits, Reason why, in one line. Files are the files that say so.
	Environment string   `json:"environment_type"`
	Reason      string   `json:"reason,omitempty"`
	Files       []string `json:"detected_files"`
	// Language is the task's. It decides if several environments fit; empty if the task has none.
	Language string `json:"language,omitempty"`
	// SetUp are the commands, empty if nothing needs to be set up; Source is the file that says so.
	SetUp        []string       `json:"setup_commands"`
	Source       string         `json:"source,omitempty"`
	Verification []Verification `json:"verification,omitempty"`
	// Defaults are the setups of the environments that were not chosen, by name.
	Defaults map[string]DefaultSetUp `json:"defaults,omitempty"`
	// Image is the container image that the project itself names; empty if it names none.
	Image string `json:"image,omitempty"`
	// Locks is a digest of all files that say what gets installed. If it changes, no snapshot fits.
	Locks string `json:"locks,omitempty"`
	// Notes say what the setup leaves out, and what it would need, one line each.
	Notes   []string `json:"notes,omitempty"`
	Unknown Unknown  `json:",embed"`
}

// DefaultSetUp is the setup of an environment that a plan names without commands.
type DefaultSetUp struct {
	SetUp        []string       `json:"setup_commands"`
	Verification []Verification `json:"verification,omitempty"`
	Unknown      Unknown        `json:",embed"`
}

// HandOver is what agents and programs are told about the environment.
type HandOver struct {
	Ready bool   `json:"environment_ready"`
	Name  string `json:"environment_name"`
	// Status is pending, success or failed.
	Status string   `json:"setup_status"`
	Errors []string `json:"errors"`
}

// HandOver returns the result of the setup. An environment without a setup is ready as it is.
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

// Language returns the language of the run's task, as it was at detection; empty if there is none.
func (j *Details) Language() string {
	if j.Detection == nil {
		return ""
	}
	return j.Detection.Language
}

// DefaultEnvironment is the name of the environment if nothing suggests another.
const DefaultEnvironment = "python"

// EnvironmentName returns the name of the run's environment: that of the configuration, else of the setup, else of the detection.
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

// Image returns the container image of the run's environment; empty leaves it to the driver.
func (j *Details) Image() string {
	name, own := j.EnvironmentName(), ""
	if j.Detection != nil && j.Detection.Environment == name {
		own = j.Detection.Image
	}
	return cmp.Or(j.Settings.Image, own, j.Settings.Images[name])
}

// Warnings returns what a person should know about where the run began, whatever became of it, one line each.
func (j *Details) Warnings() (lines []string) {
	if s := j.SetUp; s != nil {
		if failure := s.Failure(); failure != "" {
			lines = append(lines, failure+"; the work goes on without it")
		}
		if s.Dropped != "" {
			lines = append(lines, "the setup was run from nothing, because "+s.Dropped)
		}
		if len(s.Untracked) > 0 {
			lines = append(lines, "the setup wrote "+wording.Printable(strings.Join(s.Untracked, ", "))+
				": gone, or as before, when the agent begins, because git does not ignore it; name it in .gitignore, or put it in a folder of its own")
		}
	}
	for _, failed := range j.FailedBefore() {
		lines = append(lines, "the tests failed before anything was changed: "+wording.FirstLine(failed))
	}
	return lines
}

// The TCP ports of environments, below the range from which the kernel hands out ports.
const (
	firstPort           = 10000
	portsPerEnvironment = 10
	portRanges          = 2276
)

// Ports returns the first and the last of the TCP ports that belong to the environment of the request by that number. They are always the same;
// requests whose numbers are 2,276 apart share them.
func Ports(number int) (first, last int) {
	first = firstPort + number%portRanges*portsPerEnvironment
	return first, first + portsPerEnvironment - 1
}
