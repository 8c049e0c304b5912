package config

import (
	"strings"
	"testing"
)

func TestForgesAreReadStrictly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"forge: {driver: github}": "",
		"forge: {driver: gitea, url: \"https://git.example.org/sub\", repository: a/b, token: MY_TOKEN, merge: exact, ci: none}": "",
		"forge: {driver: github, app: {id: Iv1.x, installation: 7, key: ~/key.pem}}":                                             "",
		"forge: {driver: github, login: gh}":                                              "",
		"forge: {driver: github, statuses: true, labels: true, language: ja}":             "",
		"forge: {driver: gitlab, labels: true, statuses: true}":                           "GitLab counts statuses as part of the pipeline",
		"forge: {language: ja}":                                                           "",
		"forge: {language: de}":                                                           `forge.language is "de": want en or ja`,
		"forge: {drivr: github}":                                                          `did you mean "driver"?`,
		"forge: {driver: git}":                                                            `forge.driver is "git": want local or github or gitea or gitlab`,
		"forge: {driver: github, token: ghp_abc-def}":                                     "the token itself does not belong in this file",
		"forge: {driver: github, url: \"https://ada:secret@git.example.org\"}":            "forge.url is not an address: want https://…, without a name or password",
		"forge: {driver: github, repository: engine}":                                     `forge.repository is "engine": want owner/name`,
		"forge: {driver: github, repository: ../x}":                                       `forge.repository is "../x"`,
		"forge: {driver: github, token: A, login: gh}":                                    "want one of token, login and app",
		"forge: {driver: github, app: {id: x}}":                                           "want its id and the path of its key",
		"forge: {driver: gitea, login: gh}":                                               "for the driver github",
		"forge: {driver: github, merge: squash}":                                          `forge.merge is "squash"`,
		"forge: {driver: github, label: \"Signalbox:needs-input\"}":                       "labels that begin with signalbox: say how a run is",
		"push: never\nforge: {driver: github}":                                            "line 1: push is never",
		"environment: {variables: [GITHUB_TOKEN]}\nforge: {driver: github}":               "environment.variables[1] is GITHUB_TOKEN, the forge's token",
		"environment: {variables: [GITHUB_TOKEN]}\nforge: {driver: github, token: OTHER}": "",
		"environment: {variables: [OTHER]}\nforge: {driver: github, token: OTHER}":        "environment.variables[1] is OTHER, the forge's token",
		"environment: {variables: [GITHUB_TOKEN]}":                                        "",
	} {
		_, err := Parse(Name, []byte(text), func(string) string { return "" })
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngives %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%v shows a password", err)
		}
	}
}
