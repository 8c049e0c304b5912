package local

import (
	"reflect"
	"strings"
	"testing"

	"signalbox/internal/forge"
)

func TestParseRequest(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, file string
		want       forge.Request
	}{
		{
			"all keys",
			"---\nid: RQ-20261120-007\nnumber: 42\ntitle: Fix it\nbase: release/1.x\ntests: [go vet ./..., go test ./...]\n" +
				"labels: [bug]\nrun: auto\narea: back end\ndepends_on: [41, RQ-20261120-006]\n---\n\nBody\n---\nmore\n",
			forge.Request{
				ID: "RQ-20261120-007", Number: 42, Title: "Fix it", Base: "release/1.x",
				Tests: []string{"go vet ./...", "go test ./..."}, Labels: []string{"bug"}, Area: "back end", Auto: true,
				DependsOn: []string{"41", "RQ-20261120-006"}, Body: "Body\n---\nmore",
			},
		},
		{
			"the number is the end of the id when it is not given",
			"---\nid: RQ-20261120-012\ntitle: T\n---",
			forge.Request{ID: "RQ-20261120-012", Number: 12, Title: "T"},
		},
		{
			"tests may be one command",
			"---\nid: RQ-20261120-012\ntitle: T\ntests: make check\n---\n",
			forge.Request{ID: "RQ-20261120-012", Number: 12, Title: "T", Tests: []string{"make check"}},
		},
		{
			"tests may be a block with a command on each line",
			"---\nid: RQ-20261120-012\ntitle: T\ntests: |\n  make\n\n  make check\n---\n",
			forge.Request{ID: "RQ-20261120-012", Number: 12, Title: "T", Tests: []string{"make", "make check"}},
		},
		{
			"lines may end as on Windows",
			"---\r\nid: RQ-20261120-012\r\ntitle: T\r\n---\r\nBody\r\n",
			forge.Request{ID: "RQ-20261120-012", Number: 12, Title: "T", Body: "Body"},
		},
		{
			"a title loses what would steer a terminal or hide text",
			"---\nid: RQ-20261120-012\ntitle: \"a\\e[31m\\u202Eb\\u009b\\n c\\U000E0041$(id)\"\n---\n",
			forge.Request{ID: "RQ-20261120-012", Number: 12, Title: "ab c$(id)"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := parseRequest([]byte(c.file))
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("parsed as %+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

func TestParseRequestRefuses(t *testing.T) {
	t.Parallel()
	const sound = "id: RQ-20261120-012\ntitle: T\n"
	cases := []struct{ name, file, want string }{
		{"an empty file", "", "line 1: the first line is not ---"},
		{"a file without front matter", "# Title\n", "line 1: the first line is not ---"},
		{"front matter without an end", "---\n" + sound, "no closing ---"},
		{"front matter that is too long", "---\n" + sound + strings.Repeat("#\n", maxFrontMatterBytes/2) + "---\n", "no closing ---"},
		{"empty front matter", "---\n---\n", "front matter"},
		{"front matter that is a list", "---\n- a\n---\n", "not a list of keys"},
		{"broken YAML", "---\n" + sound + "labels: [a\n---\n", "yaml: line 4: did not find"},
		{"an indentation by a tab", "---\n" + sound + "\tbase: a\n---\n", "yaml: line 4: found a tab"},
		{"a text without an end", "---\n" + sound + "base: \"a\n---\n", "yaml: line 4: found unexpected"},
		{"a second YAML document", "---\n" + sound + "...\nnumber: 9\n---\n", "more than one YAML document"},
		{"an unknown key", "---\n" + sound + "titel: x\n---\n", `line 4: unknown key "titel"`},
		{"a key in another case", "---\n" + sound + "Title: x\n---\n", `line 4: unknown key "Title"`},
		{"a key that appears twice", "---\n" + sound + "title: x\n---\n", `line 4: key "title" appears twice`},
		{"a merge key", "---\nid: RQ-20261120-012\n<<: {title: x}\n---\n", `line 3: unknown key "<<"`},
		{"an alias", "---\nid: &a RQ-20261120-012\ntitle: *a\n---\n", "line 3: "},
		{"no id", "---\ntitle: T\n---\n", "id is missing"},
		{"an id that climbs", "---\nid: RQ-20261120-001/../../etc\ntitle: T\n---\n", "line 2: id \"RQ-20261120-001/../../etc\" does not look like"},
		{"no title", "---\nid: RQ-20261120-012\n---\n", "title is missing"},
		{"a title that is nothing but control characters", "---\nid: RQ-20261120-012\ntitle: \"\\e\\u202E\"\n---\n", "title is missing"},
		{"a title that is a list", "---\nid: RQ-20261120-012\ntitle: [a]\n---\n", "line 3: "},
		{"no number to take from the id", "---\nid: RQ-20261120-000\ntitle: T\n---\n", "number is missing"},
		{"a number that is negative", "---\n" + sound + "number: -1\n---\n", `line 4: number "-1"`},
		{"a number that is text", "---\n" + sound + "number: \"7\"\n---\n", `line 4: number "7"`},
		{"a number that is octal", "---\n" + sound + "number: 007\n---\n", `line 4: number "007"`},
		{"a base that is an option", "---\n" + sound + "base: --output=x\n---\n", `line 4: base "--output=x"`},
		{"a base that is a range", "---\n" + sound + "base: a..b\n---\n", `line 4: base "a..b"`},
		{"a test with a line break", "---\n" + sound + "tests: [\"a\\nb\"]\n---\n", "control characters"},
		{"an empty label", "---\n" + sound + "labels: [\"\"]\n---\n", "is empty"},
		{"a run that is neither", "---\n" + sound + "run: yes\n---\n", "want auto or manual"},
		{"a dependency that is a path", "---\n" + sound + "depends_on: ../x\n---\n", "neither an id nor a number"},
		{"too many labels", "---\n" + sound + "labels: [" + strings.Repeat("a, ", maxListLength+1) + "]\n---\n", "more than"},
		{"text that is not UTF-8", "---\n" + sound + "---\n\xff", "not valid UTF-8"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got, err := parseRequest([]byte(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("parsed as %+v, %v, want an error with %q", got, err, c.want)
			}
		})
	}
}

func FuzzParseRequest(f *testing.F) {
	f.Add([]byte("---\nid: RQ-20261120-007\ntitle: T\ntests: |\n  a\n---\nBody"))
	f.Add([]byte("---\nid: &a RQ-20261120-007\ntitle: *a\n...\n---\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		request, err := parseRequest(data)
		if err == nil && (!idPattern().MatchString(request.ID) || request.Number < 1 || request.Title == "" || request.Title != clean(request.Title)) {
			t.Errorf("accepted %+v", request)
		}
	})
}
