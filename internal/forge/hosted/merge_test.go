package hosted

import (
	"errors"
	"strings"
	"testing"

	"signalbox/internal/forge"
)

func TestNothingIsMergedIntoABranchThatWasNotTested(t *testing.T) {
	t.Parallel()
	f := &Forge{} // has no server to ask
	pr, p := forge.PullRequest{Number: 7, Branch: "signalbox/1-greet", Base: "main"}, forge.Proposal{Number: 7, Branch: "signalbox/1-greet", Base: "release", Head: "abc"}
	_, err := f.merge(t.Context(), pr, p, forge.Check{Head: "abc"}, "Merge")
	if refused := (*forge.Failure)(nil); !errors.As(err, &refused) || refused.Kind != forge.Refused || !strings.Contains(err.Error(), `from "main" to "release"`) {
		t.Errorf("it answers %v", err)
	}
}
