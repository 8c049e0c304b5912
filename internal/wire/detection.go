package wire

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"signalbox/internal/config"
	"signalbox/internal/environment/detect"
	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// Detect is what the project's files at a commit say about its environment.
func (p *Project) Detect(ctx context.Context, commit, language string) (workflow.Detection, error) {
	found, err := detect.Detect(ctx, p.Repo.Content(commit), detect.Catalogue(p.Config.Environment.Images), language)
	if err != nil {
		return workflow.Detection{}, err
	}
	d := p.detection(&found)
	if !p.Config.Environment.Submodules {
		return d, nil
	}
	submodules, err := p.Repo.Submodules(ctx, commit)
	if errors.Is(err, git.ErrInvalid) { // no environment can be made of it, which is an error there
		return d, nil
	}
	if err != nil || len(submodules) == 0 {
		return d, err
	}
	all := map[string]string{"": d.Locks}
	for _, s := range submodules { // the setup may build them
		all[s.Path] = s.Commit
	}
	d.Locks = lockDigest(all)
	return d, nil
}

// DetectHere is what the files of the work tree say. A note names those that a run would see in another version.
func (p *Project) DetectHere(ctx context.Context, language string) (detect.Result, error) {
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return detect.Result{}, fmt.Errorf("open project: %w", err)
	}
	defer func() { _ = root.Close() }()
	catalogue := detect.Catalogue(p.Config.Environment.Images)
	found, err := detect.Detect(ctx, detect.Folder{Root: root, Names: p.Repo.WorkFiles}, catalogue, language)
	if err != nil {
		return found, err
	}

	ref, begins := "HEAD", "a run begins with the last commit"
	if p.Config.Base != "" {
		ref, begins = "refs/heads/"+p.Config.Base, begins+" of "+p.Config.Base
	}
	head, err := p.Repo.Resolve(ctx, ref)
	if errors.Is(err, git.ErrNotFound) {
		found.Notes = append(found.Notes, "nothing is committed yet: "+begins)
		return found, nil
	}
	if err != nil {
		return found, err
	}
	committed, err := detect.Detect(ctx, p.Repo.Content(head), catalogue, "")
	if err != nil {
		return found, err
	}
	var changed []string
	for _, f := range found.Files {
		if !slices.ContainsFunc(committed.Files, func(c detect.File) bool { return c.Path == f.Path && c.SHA256 == f.SHA256 }) {
			changed = append(changed, f.Path)
		}
	}
	if len(changed) > 0 {
		found.Notes = append(found.Notes, begins+", which doesn't have the current "+strings.Join(changed, ", "))
	}
	return found, nil
}

func (p *Project) detection(found *detect.Result) workflow.Detection {
	var notes []string
	for _, d := range found.Descriptions { // the project's own, not taken
		if len(d.Commands) > 0 && d.Path != found.SetUpSource {
			notes = append(notes, redact.Line(fmt.Sprintf("%s describes a setup (%s): %s", d.Path, d.Unfit, strings.Join(d.Commands, "; ")), 1000))
		}
	}
	for _, part := range found.NotSetUp {
		notes = append(notes, redact.Line(fmt.Sprintf("%s (%s) is not set up: %s", part.Source, part.Environment, strings.Join(part.Commands, "; ")), 1000))
	}
	d := workflow.Detection{Environment: found.Environment, Reason: found.Reason, Files: []string{}, SetUp: found.SetUp, Source: found.SetUpSource,
		Locks: lockDigest(found.Locks()), Notes: append(notes, found.Notes...)}
	for _, f := range found.Files {
		d.Files = append(d.Files, f.Path)
	}
	d.Verification = verifications(found.Verification)
	for _, other := range found.Defaults {
		if d.Defaults == nil {
			d.Defaults = map[string]workflow.DefaultSetUp{}
		}
		d.Defaults[other.Environment] = workflow.DefaultSetUp{SetUp: other.SetUp, Verification: verifications(other.Verification)}
	}
	if p.Config.Environment.Images[d.Environment] != "" {
		return d
	}
	for _, own := range found.Descriptions { // the first of the project's own that names an image
		if d.Image = own.Image; own.Dockerfile != "" {
			d.Image = "file:" + own.Dockerfile
		}
		if d.Image != "" {
			break
		}
	}
	return d
}

func verifications(found []detect.Verification) (all []workflow.Verification) {
	for _, v := range found {
		all = append(all, workflow.Verification{Command: v.Command, Expected: v.Expected})
	}
	return all
}

// lockDigest is one digest of several files; empty for none.
func lockDigest(locks map[string]string) string {
	if len(locks) == 0 {
		return ""
	}
	all := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(locks)) {
		_, _ = fmt.Fprintf(all, "%s  %s\n", locks[path], path)
	}
	return hex.EncodeToString(all.Sum(nil))
}

// Sources of a run's setup, in the words of stage.json.
const (
	SourceConfiguration = "configuration"
	sourceDetection     = "detection"
	sourceNone          = "none"
)

// PlannedSetUp is the setup that a run would begin with, in the words of stage.json.
type PlannedSetUp struct {
	Source string `json:"source"`
	// From names the files that the commands come from.
	From         string                  `json:"from,omitempty"`
	Environment  string                  `json:"environment_name"`
	Commands     []string                `json:"setup_commands"`
	Verification []workflow.Verification `json:"verification"`
	// Image is what containers start from; empty where the driver starts none.
	Image string `json:"image,omitempty"`
	// Planned: the planner sees what was detected, and may answer with another setup.
	Planned bool `json:"planner_decides"`
}

// SetUpOf is the setup for what was found. The configuration comes before the planner, and the planner before detection.
func (p *Project) SetUpOf(found *detect.Result) (PlannedSetUp, error) {
	settings, err := p.settings(forge.Request{})
	if err != nil {
		return PlannedSetUp{}, err
	}
	d := p.detection(found)
	s := PlannedSetUp{Source: sourceDetection, From: d.Source, Commands: d.SetUp, Verification: d.Verification,
		Planned: settings.HasPlanner && slices.Contains(settings.Phases, workflow.DesignCheck.Step())}
	if len(settings.SetUp)+len(settings.Verification) > 0 || settings.NoSetUp {
		s = PlannedSetUp{Source: SourceConfiguration, From: config.Name, Commands: settings.SetUp, Verification: settings.Verification}
	}
	if len(s.Commands)+len(s.Verification) == 0 {
		s.Source = sourceNone
	}
	details := workflow.Details{Settings: settings, Detection: &d}
	s.Environment = details.EnvironmentName()
	if p.Config.Environment.Driver == config.DriverContainer {
		s.Image = details.Image()
		if file := p.Config.Environment.Dockerfile; file != "" {
			s.Image = "file:" + file
		}
	}
	s.Commands, s.Verification = append([]string{}, s.Commands...), append([]workflow.Verification{}, s.Verification...) // scripts want [], not null
	return s, nil
}
