package pipeline_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"go.yaml.in/yaml/v3"

	"signalbox/internal/pipeline"
)

// pinned is a commit with the version that it is: actionlint knows the inputs of versions.
var pinned = regexp.MustCompile(`@[0-9a-f]{40} # (v[0-9]+)\.[0-9.]+`)

// actionlint reads workflows in a project with our files; extra is one more.
func actionlint(t *testing.T, extra []byte) (string, error) {
	t.Helper()
	dir := t.TempDir()
	var workflows []string
	for _, file := range append(pipeline.GitHub(), pipeline.File{Path: ".github/workflows/extra.yml", Content: extra}) {
		path := filepath.Join(dir, file.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, pinned.ReplaceAll(file.Content, []byte("@$1")), 0o600); err != nil {
			t.Fatal(err)
		}
		if filepath.Base(filepath.Dir(path)) == "workflows" && len(file.Content) > 0 {
			workflows = append(workflows, path)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o700); err != nil { // marks the project, in which it finds our action
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), runner(t, "actionlint"), append([]string{"-no-color", "-shellcheck=", "-pyflakes="}, workflows...)...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	return string(out), err
}

// asWorkflow has the steps of our action in a job, because actionlint looks into no action.
func asWorkflow(t *testing.T) []byte {
	t.Helper()
	var action struct {
		Inputs map[string]any
		Runs   struct{ Steps []any }
	}
	for _, file := range pipeline.GitHub() {
		if filepath.Base(file.Path) == "action.yml" {
			if err := yaml.Unmarshal(pinned.ReplaceAll(file.Content, []byte("@$1")), &action); err != nil {
				t.Fatal(err)
			}
		}
	}
	inputs := map[string]any{}
	for name := range action.Inputs {
		inputs[name] = map[string]any{"type": "string"}
	}
	text, err := yaml.Marshal(map[string]any{"on": map[string]any{"workflow_call": map[string]any{"inputs": inputs}},
		"jobs": map[string]any{"action": map[string]any{"runs-on": "ubuntu-latest", "steps": action.Runs.Steps}}})
	if err != nil || len(action.Runs.Steps) < 5 {
		t.Fatal(len(action.Runs.Steps), err)
	}
	return text
}

func TestActionlintFindsNothingInTheWorkflowAndTheAction(t *testing.T) {
	t.Parallel()
	if out, err := actionlint(t, asWorkflow(t)); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	// It looks: the real actions have no such input.
	if out, err := actionlint(t, bytes.Replace(asWorkflow(t), []byte("retention-days"), []byte("retention-weeks"), 1)); err == nil {
		t.Errorf("a wrong input passes\n%s", out)
	}
}

func TestActionlintFindsNothingInThisRepositorysWorkflows(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		workflow, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := actionlint(t, pinned.ReplaceAll(workflow, []byte("@$1"))); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// Text that others control (a state, a branch's name, an input) would become part of the script there.
func TestNoExpressionIsPartOfAScript(t *testing.T) {
	t.Parallel()
	scripts := 0
	var walk func(node *yaml.Node)
	walk = func(node *yaml.Node) {
		for i, key := range node.Content {
			if node.Kind == yaml.MappingNode && i%2 == 0 && key.Value == "run" {
				scripts++
				if value := node.Content[i+1].Value; bytes.Contains([]byte(value), []byte("${{")) {
					t.Errorf("a script has an expression: %s", value)
				}
			}
			walk(key)
		}
	}
	for _, file := range pipeline.GitHub() {
		var document yaml.Node
		if filepath.Ext(file.Path) != ".yml" {
			continue
		}
		if err := yaml.Unmarshal(file.Content, &document); err != nil {
			t.Fatal(err)
		}
		walk(&document)
	}
	if scripts < 7 {
		t.Errorf("found only %d scripts", scripts)
	}
}

// The documented pins are the pins in the files.
func TestThePageNamesThePinnedActions(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/healing-in-ci.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range pipeline.GitHub() {
		for _, match := range regexp.MustCompile(`uses: (actions/[a-z-]+)@([0-9a-f]{40}) # (v[0-9.]+)`).FindAllSubmatch(file.Content, -1) {
			found++
			if row := "| `" + string(match[1]) + "` | " + string(match[3]) + " | `" + string(match[2]) + "` |"; !bytes.Contains(page, []byte(row)) {
				t.Errorf("the page lacks %s", row)
			}
		}
	}
	if found < 4 {
		t.Errorf("found only %d uses", found)
	}
}
