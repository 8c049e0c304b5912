package wire

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"text/template"

	"signalbox/internal/perform"
	"signalbox/internal/problem"
	"signalbox/internal/workflow"
)

// PromptsDir holds the project's own prompts, one file for each role that has one.
const PromptsDir = ".signalbox/prompts"

// promptLimit is far above any prompt that a model would read with profit, in bytes.
const promptLimit = 256 << 10

// Prompts are the project's own prompts by role.
func (p *Project) Prompts() (map[workflow.Role]*template.Template, error) {
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return nil, fmt.Errorf("read prompts: %w", err)
	}
	defer func() { _ = root.Close() }()
	own := map[workflow.Role]*template.Template{}
	for _, role := range workflow.Roles {
		name := path.Join(PromptsDir, string(role)+".md")
		text, err := readLimited(root, name, promptLimit)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			own[role], err = perform.PromptTemplate(role, text)
		}
		if err != nil {
			return nil, &problem.Error{Err: err, Hint: fmt.Sprintf("mend %s; what it may use is in docs/prompts.md", name)}
		}
	}
	return own, nil
}

func readLimited(root *os.Root, name string, limit int64) (string, error) {
	file, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return string(data), err
}
