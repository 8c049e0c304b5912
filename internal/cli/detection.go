package cli

import (
	"context"

	"signalbox/internal/workflow"
)

// detect is what the project's files at a commit say of its environment.
func (p *project) detect(context.Context, string) (workflow.Detection, error) {
	return workflow.Detection{}, nil
}
