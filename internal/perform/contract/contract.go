// Package contract owns the contracts for the answers of planner, reviewer and repairer: JSON Schemas, and rules that a schema
// can't express.
package contract

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"signalbox/internal/redact"
	"signalbox/internal/schema"
	"signalbox/internal/workflow"
)

//go:embed schemas/*.json
var schemaFiles embed.FS

// contracts are the JSON Schemas of the roles' answers, read at first use.
var contracts = sync.OnceValues(func() (map[workflow.Role]*schema.Schema, error) {
	read := map[workflow.Role]*schema.Schema{}
	for role, name := range map[workflow.Role]string{workflow.Planner: "planning.json", workflow.Reviewer: "review.json", workflow.Repairer: "repair.json"} {
		data, err := schemaFiles.ReadFile("schemas/" + name)
		if err != nil {
			return nil, err
		}
		if read[role], err = schema.Parse(data); err != nil {
			return nil, fmt.Errorf("contract %s: %w", name, err)
		}
	}
	return read, nil
})

// breachError is an answer that breaches its role's contract.
type breachError struct{ breaches []schema.Breach }

func (e *breachError) Error() string {
	return fmt.Sprintf("%d breaches of the contract", len(e.breaches))
}

// Read converts an answer into the role's event. If it breaches the contract, Problems lists the breaches of the error.
func Read(o workflow.Outcome, role workflow.Role, data []byte, log string) (workflow.Event, error) {
	data = namedEnvironment(data)
	schemas, err := contracts()
	if err != nil {
		return nil, err
	}
	if breaches, err := schemas[role].Check(data); err != nil {
		return nil, err
	} else if len(breaches) > 0 {
		return nil, &breachError{breaches}
	}
	switch role {
	case workflow.Planner:
		var plan workflow.Plan
		if err := json.Unmarshal(data, &plan); err != nil {
			return nil, err
		}
		for i, step := range plan.Actions.Steps { // a schema can't express this
			if want := fmt.Sprintf("S%02d", i+1); step.StepID != want {
				return nil, fmt.Errorf("action_plan.steps[%d].step_id is %q; number the steps from S01 without gaps, so this one is %q", i, step.StepID, want)
			}
		}
		return workflow.PlanAnswered{Outcome: o, Plan: plan, LogPath: log}, nil
	case workflow.Reviewer:
		var review workflow.Review
		err = json.Unmarshal(data, &review)
		return workflow.ReviewAnswered{Outcome: o, Review: review, LogPath: log}, err
	}
	var repair workflow.Repair
	err = json.Unmarshal(data, &repair)
	return workflow.RepairAnswered{Outcome: o, Repair: repair, LogPath: log}, err
}

// namedEnvironment expands an environment that a plan only names to an object with that name. It returns anything else
// unchanged.
func namedEnvironment(data []byte) []byte {
	const key = "selected_environment"
	var plan map[string]jsontext.Value
	if json.Unmarshal(data, &plan) != nil || plan[key].Kind() != '"' {
		return data
	}
	plan[key] = slices.Concat(jsontext.Value(`{"name":`), plan[key], jsontext.Value(`}`))
	named, err := json.Marshal(plan, json.Deterministic(true))
	if err != nil {
		return data
	}
	return named
}

// maxProblems is how many problems an agent gets at once.
const maxProblems = 12

// Problems returns the breaches of a contract, one line each, beginning with the place.
func Problems(err error) []string {
	var invalid *breachError
	if !errors.As(err, &invalid) {
		return []string{redact.Line(err.Error(), 400)}
	}
	var lines []string
	for _, b := range invalid.breaches[:min(len(invalid.breaches), maxProblems)] {
		lines = append(lines, redact.Line(strings.TrimPrefix(b.Pointer, "/")+": "+b.Reason, 400))
	}
	return lines
}
