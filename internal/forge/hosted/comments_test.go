package hosted

import (
	"testing"

	"signalbox/internal/forge"
)

// Records of issues keep the names that they had before pull requests got records of their own.
func TestCommentsOnAnIssueAndAPullRequestOfOneNumberAreRecordedApart(t *testing.T) {
	t.Parallel()
	if issue, pull := recordOf(forge.OnIssue(5)), recordOf(forge.OnPull(5)); issue != "5" || pull == issue {
		t.Errorf("the records are %q and %q", issue, pull)
	}
}
