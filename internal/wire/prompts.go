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

// promptLimit is far above any useful prompt, in bytes.
const promptLimit = 256 << 10

// Prompts are the project's own prompts by role.
func (p *Project) Prompts() (map[workflow.Role]*template.Template, error) {
	own := map[workflow.Role]*template.Template{}
	for _, role := range workflow.Roles {
		name := path.Join(PromptsDir, string(role)+".md")
		text, err := readLimited(p.Root, name, promptLimit)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			own[role], err = perform.PromptTemplate(role, string(text))
		}
		if err != nil {
			return nil, &problem.Error{Err: err, Hint: fmt.Sprintf("fix %s; docs/prompts.md says what it may use", name)}
		}
	}
	return own, nil
}

// readLimited reads a file of the project, which no link may lead out of it and which is refused above a size.
func readLimited(root, name string, limit int64) ([]byte, error) {
	file, err := os.OpenInRoot(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return data, err
}
