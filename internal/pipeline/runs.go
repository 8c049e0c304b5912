package pipeline

import (
	_ "embed"
	"strings"
)

var (
	//go:embed runs/actions.yml
	runsByActions string
	//go:embed runs/gitlab.yml
	runsByGitLab string
)

// RunsOnGitHub returns the workflow that runs issues on orders. The workflow's own token is enough, but what it pushes starts no other workflow.
func RunsOnGitHub() []File {
	return actions(".github/workflows/signalbox.yml", "github", "GITHUB_TOKEN", "secrets.SIGNALBOX_TOKEN || github.token")
}

// RunsOnGitea returns the same for Gitea and Forgejo, whose runners know the words of GitHub's. The workflow's own token may not ask who has
// write access.
func RunsOnGitea() []File {
	return actions(".gitea/workflows/signalbox.yml", "gitea", "GITEA_TOKEN", "secrets.SIGNALBOX_TOKEN")
}

func actions(path, forge, token, value string) []File {
	return []File{{path, []byte(strings.NewReplacer("FORGE", forge, "TOKEN_NAME", token, "TOKEN_VALUE", value).Replace(runsByActions))}}
}

// RunsOnGitLab returns the job that runs issues on orders, for a project's .gitlab-ci.yml to include.
func RunsOnGitLab() []File { return []File{{".gitlab/signalbox.yml", []byte(runsByGitLab)}} }
