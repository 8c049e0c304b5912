package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"signalbox/internal/lazy"
)

// Forge says where issues and pull requests are.
type Forge struct {
	// Driver is local (requests are files, pull requests are branches) or a server's kind: github, gitea or gitlab.
	Driver string `yaml:"driver"`
	// URL is the server's address for people; empty means that of the remote origin.
	URL string `yaml:"url"`
	// Repository is owner/name, with every group above it on GitLab; empty means that of the remote origin.
	Repository string `yaml:"repository"`
	// Token is the name of the environment variable with the token; empty means the vendor's usual ones.
	Token string `yaml:"token"`
	// Login is the program that is asked for the token instead: gh, or glab for GitLab.
	Login string `yaml:"login"`
	// App is the GitHub App to act as instead.
	App ForgeApp `yaml:"app"`
	// Merge is exact, guarded, queue, or auto: the surest that the server allows.
	Merge string `yaml:"merge"`
	// Fork is auto (branches are pushed to your fork if you may not push to the repository), create (the same, and the fork is made if there is none),
	// never, or owner/name: this fork.
	Fork string `yaml:"fork"`
	// Reviewers are asked to review the pull request when it becomes ready: accounts, and teams as owner/team.
	Reviewers []string `yaml:"reviewers"`
	// Draft has the pull request opened as a draft with the first step that is done, unless you agree to every merge here.
	Draft bool `yaml:"draft"`
	// CI is auto (the server's verdicts count, and a missing one is waited for) or none (there is no CI, so the tests here are enough).
	CI string `yaml:"ci"`
	// Statuses: Signalbox's own verdicts are published on the pull request's head. Labels: the issue has a label that says how its run stands.
	Statuses bool `yaml:"statuses"`
	Labels   bool `yaml:"labels"`
	// Language is that of the comments on requests: en or ja.
	Language string `yaml:"language"`
	// Label on an issue orders a run of it; empty means that no label does.
	Label string `yaml:"label"`
	// Webhook is the name of the environment variable with the secret that signs webhooks; empty takes none.
	Webhook string `yaml:"webhook"`
}

// ForgeApp is an App that is installed in the repository.
type ForgeApp struct {
	// ID is the App's client id or number.
	ID string `yaml:"id"`
	// Installation is the installation's number; 0 has the server asked for it.
	Installation int64 `yaml:"installation"`
	// Key is the path of the file with the App's private key, relative to the project root; "~/" is the home folder.
	Key string `yaml:"key"`
}

// The values of the keys below forge.
// stateLabels begin the labels that say how a run is.
const stateLabels = "signalbox:"

const (
	ForgeLocal  = "local"
	ForgeGitHub = "github"
	ForgeGitea  = "gitea"
	ForgeGitLab = "gitlab"

	ForgeLoginGH   = "gh"
	ForgeLoginGlab = "glab"

	MergeAuto    = "auto"
	MergeExact   = "exact"
	MergeGuarded = "guarded"
	MergeQueue   = "queue"

	ForkAuto   = "auto"
	ForkCreate = "create"
	ForkNever  = "never"

	CIAuto = "auto"
	CINone = "none"

	LanguageEnglish  = "en"
	LanguageJapanese = "ja"
)

// Hosted reports whether issues and pull requests are on a server.
func (f Forge) Hosted() bool { return f.Driver != "" && f.Driver != ForgeLocal }

// usualTokens are the variables that usually hold tokens for forges.
var usualTokens = []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GITEA_TOKEN", "GITLAB_TOKEN"}

// TokenVariables are the variables from which the forge's token, and the secret of its webhooks, may come. No command of a run gets them.
func (f Forge) TokenVariables() (names []string) {
	switch {
	case !f.Hosted():
		return nil
	case f.App.ID != "":
	case f.Token != "":
		names = []string{f.Token}
	default:
		names = slices.Clone(usualTokens)
	}
	if f.Webhook != "" {
		names = append(names, f.Webhook)
	}
	return names
}

// repositoryPath is owner/name, or more groups; no part is . or .. or begins with a hyphen.
var repositoryPath = lazy.Pattern(`^\w[\w.-]*(?:/\w[\w.-]*)+$`)

// reviewerName is an account's, or that of a team of an organization.
var reviewerName = lazy.Pattern(`^\w[\w.-]*(?:/\w[\w.-]*)?$`)

func (c *Config) validateForge() (problems []error) {
	f := c.Forge
	problems = append(problems, oneOf("forge.driver", f.Driver, ForgeLocal, ForgeGitHub, ForgeGitea, ForgeGitLab),
		oneOf("forge.merge", f.Merge, MergeAuto, MergeExact, MergeGuarded, MergeQueue), oneOf("forge.ci", f.CI, CIAuto, CINone),
		oneOf("forge.language", f.Language, LanguageEnglish, LanguageJapanese))
	if u, err := url.Parse(f.URL); f.URL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil) {
		problems = append(problems, wrong("forge.url", " is not an address: want https://…, without a name or password")) // it isn't quoted: it can hold a password
	}
	if f.Repository != "" && !repositoryPath().MatchString(f.Repository) {
		problems = append(problems, wrong("forge.repository", " is %q: want owner/name", shown(f.Repository)))
	}
	if !repositoryPath().MatchString(f.Fork) {
		problems = append(problems, oneOf("forge.fork", f.Fork, ForkAuto, ForkCreate, ForkNever, "owner/name"))
	}
	for i, name := range f.Reviewers {
		if !reviewerName().MatchString(name) || f.Driver == ForgeGitLab && strings.Contains(name, "/") {
			problems = append(problems, wrong(fmt.Sprintf("forge.reviewers[%d]", i+1), " is %q: want an account's name, or owner/team (not on GitLab)", shown(name)))
		}
	}
	if f.Token != "" && !variableName().MatchString(f.Token) {
		problems = append(problems, wrong("forge.token", " is not the name of an environment variable: the token itself does not belong in this file"))
	}
	if f.Webhook != "" && !variableName().MatchString(f.Webhook) {
		problems = append(problems, wrong("forge.webhook", " is not the name of an environment variable: the secret itself does not belong in this file"))
	}
	if strings.ContainsAny(f.Label, ",\n") || strings.TrimSpace(f.Label) != f.Label {
		problems = append(problems, wrong("forge.label", " is %q: want the name of one label", shown(f.Label)))
	}
	if strings.HasPrefix(strings.ToLower(f.Label), stateLabels) {
		problems = append(problems, wrong("forge.label", " is %q: labels that begin with "+stateLabels+" say how a run is, and would order the next one", shown(f.Label)))
	}
	if f.Login != "" {
		problems = append(problems, oneOf("forge.login", f.Login, ForgeLoginGH, ForgeLoginGlab))
	}
	app := f.App != ForgeApp{}
	if app && (f.App.ID == "" || f.App.Key == "") {
		problems = append(problems, wrong("forge.app", ": want its id and the path of its key"))
	}
	if app && f.Driver != ForgeGitHub {
		problems = append(problems, wrong("forge", ": app is for the driver github"))
	}
	if owner := (map[string]string{ForgeLoginGH: ForgeGitHub, ForgeLoginGlab: ForgeGitLab})[f.Login]; owner != "" && f.Driver != owner {
		problems = append(problems, wrong("forge", ": login %s is for the driver %s", f.Login, owner))
	}
	if f.Login != "" && (f.Token != "" || app) || f.Token != "" && app {
		problems = append(problems, wrong("forge", ": want one of token, login and app"))
	}
	if f.Statuses && f.Driver == ForgeGitLab { // a run would wait for what it says itself
		problems = append(problems, wrong("forge.statuses", ": GitLab counts statuses as part of the pipeline that a run waits for"))
	}
	for i, variable := range c.Environment.Variables {
		if slices.Contains(f.TokenVariables(), variable) {
			problems = append(problems, wrong(fmt.Sprintf("environment.variables[%d]", i+1), " is %s, the forge's token: commands don't get it; name another variable in forge.token", variable))
		}
	}
	if c.Approve == ApproveForge && !f.Hosted() {
		problems = append(problems, wrong("approve", " is forge, and no forge is configured: want manual or auto, or a forge"))
	}
	if f.Hosted() && c.Push == PushNever {
		problems = append(problems, wrong("push", " is never: a change on the forge %s has to be pushed", f.Driver))
	}
	return problems
}
