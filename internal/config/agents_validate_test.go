package config

import (
	"slices"
	"strings"
	"testing"
)

func TestPatternsOfAnAgentAndOfItsRoleCountTogether(t *testing.T) {
	t.Parallel()
	c := Default()
	if _, _, err := parseInto([]byte("agents: {it: {driver: claude, permissions: ask, allow: [Read], deny: [\"Bash(rm *)\"]}}\n"+
		"roles: {implementer: {agent: it, allow: [\"Bash(go test *)\"]}, reviewer: {agent: it, permissions: read-only}}\n"), &c); err != nil {
		t.Fatal(err)
	}
	_, a, _ := c.AgentFor("implementer", "full")
	if !slices.Equal(a.Allow, []string{"Read", "Bash(go test *)"}) || !slices.Equal(a.Deny, []string{"Bash(rm *)"}) || a.Permissions != PermissionsAsk {
		t.Errorf("%+v", a)
	}
}

func TestPatternsThatWouldNotCountAreRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, file, says string }{
		{"a pattern that is none", "agents: {it: {driver: claude, permissions: ask, allow: [Read, \"Bash(go test\"]}}\n", "agents.it.allow[2]: "},
		{"an agent that does not ask", "agents:\n  it: {driver: claude, deny: [Read]}\n", "line 2: agents.it: allow and deny apply only with permissions: ask"},
		{"a role that does not ask", "agents: {it: {driver: claude, permissions: ask}}\nroles:\n  planner: {agent: it, permissions: edits, allow: [Read]}\n", "line 3: roles.planner: allow and deny apply"},
		{"a role of a workflow", "agents: {it: {driver: claude}}\nworkflows: {simple: {roles: {planner: {agent: it, allow: [Read]}}}}\n", "workflows.simple.roles.planner: "},
		{"time for nothing", "limits: {answer_within: -1s}\n", "limits.answer_within is -1s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := loaded(t, test.file); !strings.Contains(got, test.says) {
				t.Errorf("%q, want %q", got, test.says)
			}
		})
	}
}
