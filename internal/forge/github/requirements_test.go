package github_test

import (
	"reflect"
	"testing"

	"signalbox/internal/forge"
	"signalbox/internal/forge/github/githubtest"
)

func protection(approvals int, checks ...string) map[string]any {
	return map[string]any{
		"required_status_checks":        map[string]any{"strict": true, "contexts": checks, "checks": []any{}, "url": "https://example.org", "contexts_url": "https://example.org"},
		"required_pull_request_reviews": map[string]any{"required_approving_review_count": approvals, "dismiss_stale_reviews": true, "require_code_owner_reviews": false},
	}
}

func TestRequirementsComeFromProtectionAndRulesets(t *testing.T) {
	t.Parallel()
	type rules = []map[string]any
	for name, c := range map[string]struct {
		token      string
		protection map[string]any
		rules      rules
		want       forge.Requirements
	}{
		"nothing":             {"ghp_ada", nil, nil, forge.Requirements{}},
		"protection":          {"ghp_ada", protection(2, "b", "a"), nil, forge.Requirements{Verdicts: []string{"a", "b"}, Approvals: 2, PushRefused: true}},
		"rulesets":            {"ghp_ada", nil, rules{checkRule("c"), pullRule(1, "merge")}, forge.Requirements{Verdicts: []string{"c"}, Approvals: 1, PushRefused: true}},
		"both":                {"ghp_ada", protection(1, "a"), rules{checkRule("a", "c"), pullRule(2, "merge")}, forge.Requirements{Verdicts: []string{"a", "c"}, Approvals: 2, PushRefused: true}},
		"a queue":             {"ghp_ada", nil, rules{queueRule}, forge.Requirements{PushRefused: true, Queue: true}},
		"only updates":        {"ghp_ada", nil, rules{{"type": "update"}}, forge.Requirements{PushRefused: true}},
		"another rule":        {"ghp_ada", nil, rules{{"type": "deletion"}}, forge.Requirements{}},
		"no administrator":    {"ghp_grace", protection(2, "a"), rules{checkRule("c")}, forge.Requirements{Verdicts: []string{"c"}, Unknown: true}},
		"checks, no approval": {"ghp_ada", map[string]any{"required_status_checks": protection(0, "a")["required_status_checks"]}, nil, forge.Requirements{Verdicts: []string{"a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := githubtest.New(t)
			s.Commit("release/1", nil)
			s.With(func(st *githubtest.State) { st.Protection["release/1"], st.Rules["release/1"] = c.protection, c.rules })
			with := config(s)
			with.Token = token(c.token)
			got := must(open(t, with).Required(t.Context(), "release/1"))(t)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("required is %+v, want %+v", got, c.want)
			}
		})
	}
}
