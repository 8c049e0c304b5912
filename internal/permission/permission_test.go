package permission_test

import (
	"strings"
	"testing"

	"signalbox/internal/permission"
)

func TestAPatternAllowsNoMoreThanItSays(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, tool, subject string
		want                   bool
	}{
		{"Read", "Read", "a.go", true},
		{"Read", "Read", "", true},
		{"Read", "ReadAll", "a.go", false},
		{"Read", "read", "a.go", false},
		{"Read(a.go)", "Read", "", false},
		{"Read(*)", "Read", "", false},
		{"Read(*.go)", "Read", "x/a.go", true},
		{"Read(*.go)", "Read", "a.go.txt", false},
		{"Edit(docs/*)", "Edit", "docs/a/b.md", true},
		{"Edit(docs/*)", "Edit", "docs/../main.go", false},
		{"Edit(docs/*)", "Edit", "docs/..", false},
		{"Edit(docs/*)", "Edit", "docs/a..b/...md", true},
		{"Edit(../*)", "Edit", "../a", true},
		{"Edit", "Edit", "../a", false},
		{"mcp__tracker__*", "mcp__tracker__list", "", true},
		{"mcp__tracker__*", "mcp__other__list", "", false},
		{"*", "Anything", "at all", true},

		{"Bash(go test *)", "Bash", "go test ./...", true},
		{"Bash(go test *)", "Bash", "go test ", true},
		{"Bash(go test *)", "Bash", "go test", false},
		{"Bash(go test*)", "Bash", "go test", true},
		{"Bash(go test *)", "Bash", "go testing", false},
		{"Bash(go test *)", "Bash", " go test ./...", false},
		{"Bash(go test *)", "Bash", "go test ./... ; rm -rf ~", false},
		{"Bash(go test *)", "Bash", "go test ./...&&rm -rf ~", false},
		{"Bash(go test *)", "Bash", "go test & rm -rf ~", false},
		{"Bash(go test *)", "Bash", "go test ./... | sh", false},
		{"Bash(go test *)", "Bash", "go test $(rm -rf ~)", false},
		{"Bash(go test *)", "Bash", "go test ${x:-y}", false},
		{"Bash(go test *)", "Bash", "go test `rm -rf ~`", false},
		{"Bash(go test *)", "Bash", "go test \nrm -rf ~", false},
		{"Bash(go test *)", "Bash", "go test \rrm -rf ~", false},
		{"Bash(go test *)", "Bash", "go test > ~/.bashrc", false},
		{"Bash(go test *)", "Bash", "go test <(rm -rf ~)", false},
		{"Bash(go test *)", "Bash", "go test ../other", false},
		{"Bash", "Bash", "ls; rm -rf ~", false},
		{"*", "Bash", "ls; rm -rf ~", false},
		{"Bash(*)", "Bash", "ls && rm -rf ~", false},
		{"Bash(cd * && go test *)", "Bash", "cd a && go test ./...", true},
		{"Bash(cd * && go test *)", "Bash", "cd a && rm -rf ~ && go test ./...", false},
		{"Bash(cd * && go test *)", "Bash", "cd a && go test ./... && rm -rf ~", false},
		{"Bash(go test * | tee *)", "Bash", "go test ./... | tee log", true},
		{"Bash(go test * | tee *)", "Bash", "go test ./... || tee log", false},
		{"Bash(a*b*c)", "Bash", "a b b c", true},
		{"Bash(a*b*c)", "Bash", "a c", false},
		{`Bash(ls \*.go)`, "Bash", "ls *.go", true},
		{`Bash(ls \*.go)`, "Bash", "ls a.go", false},
		{`Bash(echo \\)`, "Bash", `echo \`, true},
		{`Bash(echo \n)`, "Bash", `echo \n`, true},
		{"Bash(go test ./...)", "Bash", "go test ./...", true},
		{"Bash(go test (a))", "Bash", "go test (a)", true},

		{"Bash(go test", "Bash", "go test", false},
		{"Bash()", "Bash", "", false},
		{"(x)", "", "x", false},
		{"Ba sh", "Ba sh", "", false},
	} {
		v, by := permission.Rules{Allow: []string{test.pattern}}.Verdict(permission.Use{Tool: test.tool, Subject: test.subject})
		if (v == permission.Allow) != test.want || test.want && by != test.pattern {
			t.Errorf("%q says %q of %s(%s)", test.pattern, v, test.tool, test.subject)
		}
		if v, _ := (permission.Rules{Allow: []string{test.pattern}}).Verdict(permission.Use{Tool: test.tool, Subject: test.subject, Altered: true}); v != permission.Ask {
			t.Errorf("%q says %q of what is not shown whole", test.pattern, v)
		}
	}
}

func TestADenialGoesBeforeAndLooksIntoCommands(t *testing.T) {
	t.Parallel()
	rules := permission.Rules{Allow: []string{"Bash(*)", "Bash(cd * && rm *)", "WebFetch"}, Deny: []string{"Bash(rm *)", "Bash(git push*)", "WebFetch"}}
	for subject, want := range map[string]permission.Verdict{
		"go test ./...":             permission.Allow,
		"rm -rf x":                  permission.Deny,
		"cd x && rm -rf y":          permission.Deny,
		"ls; git push":              permission.Deny,
		"echo `rm x`":               permission.Deny,
		"x $(rm y)":                 permission.Deny,
		"a\nrm b":                   permission.Deny,
		"rm a; ls":                  permission.Deny,
		"rmdir x":                   permission.Allow,
		"ls; true":                  permission.Ask,
		strings.Repeat("rm", 1<<12): permission.Allow,
	} {
		if v, _ := rules.Verdict(permission.Use{Tool: "Bash", Subject: subject}); v != want {
			t.Errorf("the rules say %q of %.40q, want %q", v, subject, want)
		}
	}
	if v, by := rules.Verdict(permission.Use{Tool: "WebFetch", Subject: "https://example.org", Altered: true}); v != permission.Deny || by != "WebFetch" {
		t.Errorf("the rules say %q by %q", v, by)
	}
}

func TestExactlyAllowsThatUseAlone(t *testing.T) {
	t.Parallel()
	for _, subject := range []string{"go vet ./...", `ls *.go \* && rm \\`, "a\nb", "f (x)", "$(id) `id`"} {
		use := permission.Use{Tool: "Bash", Subject: subject}
		text, err := permission.Exactly(use)
		if err != nil {
			t.Fatal(err)
		}
		rules := permission.Rules{Allow: []string{text}}
		if v, _ := rules.Verdict(use); v != permission.Allow {
			t.Errorf("%q does not allow %q", text, subject)
		}
		for _, other := range []string{subject + "x", "x" + subject, strings.ToUpper(subject), ""} {
			if v, _ := rules.Verdict(permission.Use{Tool: "Bash", Subject: other}); v == permission.Allow {
				t.Errorf("%q allows %q", text, other)
			}
		}
	}
	for _, use := range []permission.Use{{Tool: "Bash", Subject: "ls", Altered: true}, {Tool: "*", Subject: "ls"}, {Tool: "Bash(ls"}, {}} {
		if text, err := permission.Exactly(use); err == nil {
			t.Errorf("%+v is allowed by %q", use, text)
		}
	}
}

// FuzzAllow looks for commands that a pattern of one command allows although a shell would take them for more.
func FuzzAllow(f *testing.F) {
	f.Add("./...")
	f.Add("a;b")
	f.Fuzz(func(t *testing.T, rest string) {
		v, _ := permission.Rules{Allow: []string{"Bash(go test *)"}}.Verdict(permission.Use{Tool: "Bash", Subject: "go test " + rest})
		if (v == permission.Allow) && strings.ContainsAny(rest, ";&|<>()$`\n\r") {
			t.Errorf("%q is allowed", rest)
		}
	})
}
