package wire

import (
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"signalbox/internal/agent/replay"
	"signalbox/internal/process"
	"signalbox/internal/workflow"
)

// Commands of our own program that drivers start.
const (
	ProbeName       = "probe"
	ReplayAgentName = "replay-agent"
)

// ReplayAgent acts as the scripted agent: it is what ReplayAgentName runs.
var ReplayAgent = replay.Main

// Ask is our own program, which asks a service from inside.
func (p *Project) Ask(check workflow.HealthCheck) process.Command {
	self, err := ownProgram()
	if err != nil {
		p.Log.Warn("find own program", "err", err) // what is started then says that it is not there
	}
	question, err := json.Marshal(check)
	if err != nil {
		p.Log.Error("encode health check", "check", check.ID, "err", err) // it was decoded from text
	}
	return process.Command{Args: []string{self, "heal", ProbeName, string(question)}, Reads: []string{self}}
}

func ownProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(self)
}
