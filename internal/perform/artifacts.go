package perform

import (
	"context"
	"fmt"
	"io"

	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// Artifacts are the files of a run that people read beside its document. The document names each by the returned path.
// An implementation decides where they are.
type Artifacts interface {
	// CreateLog opens a log for appending, so that a repeated attempt hides nothing. A name is
	// <role>.<step>.<attempt>.log. The caller redacts.
	CreateLog(ref workflow.RunRef, name string) (log io.WriteCloser, path string, err error)
	// CreateTranscript opens the transcript beside the log of that name, likewise.
	CreateTranscript(ref workflow.RunRef, name string) (io.WriteCloser, error)
	// WritePatch replaces a patch by what write writes, or leaves it if write fails. The caller redacts.
	WritePatch(ref workflow.RunRef, name string, write func(io.Writer) error) (path string, err error)
	WritePlan(ctx context.Context, ref workflow.RunRef, plan *workflow.Plan) (path string, err error)
	LoadPlan(ctx context.Context, ref workflow.RunRef) (workflow.Plan, error)
	// WriteReport and WriteErrors redact. An error of nil removes the file.
	WriteReport(ctx context.Context, ref workflow.RunRef, report []byte) (path string, err error)
	WriteErrors(ctx context.Context, ref workflow.RunRef, problem *workflow.Error) (path string, err error)
}

// logName names the log of one attempt of one role at one step: implementer.S01.2.log.
func logName(role, step string, attempt int) string {
	return fmt.Sprintf("%s.%s.%d.log", role, step, attempt)
}

// openLog opens a log of a run. It takes out secrets and everything that acts on a terminal before they reach the
// log, so that nothing can be put together again when someone prints it.
func openLog(a Artifacts, r *redact.Redactor, ref workflow.RunRef, name string) (io.WriteCloser, string, error) {
	file, path, err := a.CreateLog(ref, name)
	if err != nil {
		return nil, "", fmt.Errorf("open log: %w", err)
	}
	return closers{r.CleanWriter(file), file}, path, nil
}

// closers writes to the first and closes both, the first one first.
type closers struct {
	io.WriteCloser
	file io.Closer
}

func (c closers) Close() error {
	if err := c.WriteCloser.Close(); err != nil {
		_ = c.file.Close()
		return err
	}
	return c.file.Close()
}
