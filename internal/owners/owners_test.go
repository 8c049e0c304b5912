package owners_test

import (
	"strings"
	"testing"

	"signalbox/internal/owners"
)

func TestEachForgeUnderstandsPatternsInItsOwnWay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind             owners.Kind
		file, path, want string
	}{
		{owners.GitHub, "* @all\n*.go @gophers @org/go # who\n", "cmd/main.go", "gophers org/go"},
		{owners.GitHub, "* @all\n*.go @gophers\n", "README.md", "all"},
		{owners.GitHub, "*.go @gophers\n/vendor/\n", "vendor/a.go", ""}, // the last rule has no owner
		{owners.GitHub, "docs/* docs@example.org\n", "docs/a.md", "docs@example.org"},
		{owners.GitHub, "docs/* @docs\n", "docs/deep/a.md", ""},
		{owners.GitHub, "docs/* @docs\n", "x/docs/a.md", ""},
		{owners.GitHub, "apps/ @octocat\n", "x/apps/a", "octocat"},
		{owners.GitHub, "/apps/ @octocat\n", "x/apps/a", ""},
		{owners.GitHub, "**/logs @octocat\n", "deep/er/logs/a", "octocat"},
		{owners.GitHub, "/a\\ b.txt @octocat\n", "a b.txt", "octocat"},
		{owners.GitHub, "!*.go @octocat\n", "a.go", ""},
		{owners.GitHub, "a.go @oct`o`cat <b> @good $(id) @x|y\n", "a.go", "good"},
		{owners.GitLab, "* @all\n[Docs]\n*.md @writers\n^[Go][2] @gophers\n*.go\nmain.go @lead\n", "main.go", "all lead"},
		{owners.GitLab, "* @all\n[Docs]\n*.md @writers\n^[Go][2] @gophers\n*.go\n", "x/a.go", "all gophers"},
		{owners.GitLab, "docs/api/ @api\n", "x/docs/api/a", "api"},
		{owners.Gitea, ".*\\.go @gophers\ncmd/.* @org/cmd\n!.*\\.md @prose\n", "cmd/main.go", "gophers org/cmd prose"},
		{owners.Gitea, "*.go @gophers\n(((  @x\na.go @ok\n", "a.go", "ok"},
		{owners.Gitea, "(a*)*b @x\n", strings.Repeat("a", 5_000), ""},
	} {
		if got := strings.Join(owners.Parse(c.kind, c.file).Of([]string{c.path}), " "); got != c.want {
			t.Errorf("%s: of %.50q in %q is %q, want %q", c.kind, c.path, c.file, got, c.want)
		}
	}
	many := owners.Parse(owners.GitHub, strings.Repeat("x", 300<<10)+"\n* @a\n")
	if got := many.Of([]string{"x"}); len(got) != 0 {
		t.Errorf("of a file that is too large: %q", got)
	}
}
