package containeruse

import (
	"fmt"
	"testing"
)

func TestAnIssueIsNamedAsPeopleNameOne(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"Log in #42": 42, "#7: log in": 7, "feature/issue-42-user-auth": 42, "Issue 9, and #10": 9, "issues/12": 12, "(#3)": 3,
		"": 0, "no number": 0, "&#39;": 0, "#0": 0, "abc#12": 0, "tissue-5": 0, "#1234567890": 0, "issue": 0, "#12a": 0,
	} {
		if got := IssueIn("nothing", text); got != want {
			t.Errorf("%q names issue %d, want %d", text, got, want)
		}
	}
}

func TestACallIsDoneOnceItsAnswerComes(t *testing.T) {
	t.Parallel()
	const call = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{"environment_id":%q,"title":"Log in #42"}}}`
	for name, c := range map[string]struct {
		sent, answered string
		want           []Done
	}{
		"created":              {fmt.Sprintf(call, "1", create, ""), `{"id":1,"result":{"content":[{"text":"Done. {\"id\":\"swift-fox\",\"title\":\"Log in\"} Say so."}]}}`, []Done{{Call{create, "swift-fox", "Log in", 42}, false}}},
		"an id that is a text": {fmt.Sprintf(call, `"a"`, "environment_open", "fox"), `{"id":"a","result":{"content":[]}}`, []Done{{Call{"environment_open", "fox", "Log in #42", 42}, false}}},
		"a batch":              {"[" + fmt.Sprintf(call, "1", "environment_list", "") + "," + fmt.Sprintf(call, "2", "environment_open", "fox") + "]", `[{"id":1,"result":{}},{"id":2,"error":{"code":1}}]`, []Done{{Call{"environment_open", "fox", "Log in #42", 42}, true}}},
		"an error of the tool": {fmt.Sprintf(call, "1", create, ""), `{"id":1,"result":{"isError":true}}`, []Done{{Call{create, "", "Log in #42", 42}, true}}},
		"an id for a shell":    {fmt.Sprintf(call, "1", create, ""), `{"id":1,"result":{"content":[{"text":"{\"id\":\"x; touch /tmp/p; #\"}"}]}}`, []Done{{Call{create, "", "Log in #42", 42}, false}}},
		"another environment":  {fmt.Sprintf(call, "1", "environment_open", "fox"), `{"id":1,"result":{"content":[{"text":"{\"id\":\"wolf\"}"}]}}`, []Done{{Call{"environment_open", "fox", "Log in #42", 42}, false}}},
		"not asked for":        {fmt.Sprintf(call, "1", "other_tool", ""), `{"id":1,"result":{"content":[{"text":"{\"id\":\"wolf\"}"}]}}`, nil},
		"no JSON":              {fmt.Sprintf(call, "1", create, ""), `{"id":1`, nil},
		"the server's request": {fmt.Sprintf(call, "1", create, ""), `{"id":1,"method":"roots/list"}`, nil},
	} {
		var f Follower
		f.Sent([]byte(c.sent))
		if got := f.Answered([]byte(c.answered)); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if again := f.Answered([]byte(c.answered)); c.want != nil && again != nil {
			t.Errorf("%s: answered twice: %+v", name, again)
		}
	}
}
