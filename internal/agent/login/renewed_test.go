package login

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestOnlyTokensInThePlacesOfTokensAreTakenOver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, person, back, want string }{
		{"Codex", `{"OPENAI_API_KEY": null, "tokens": {"id_token": "a.b.c", "access_token": "a", "refresh_token": "rt_1", "account_id": "me"}, "last_refresh": "2026-01-01T00:00:00Z"}`,
			`{"OPENAI_API_KEY": "sk-theirs", "tokens": {"id_token": "d.e-_.f", "access_token": "b", "refresh_token": "rt_2", "account_id": "they"}, "last_refresh": "2026-02-01T00:00:00.123Z"}`,
			`{"OPENAI_API_KEY": null, "tokens": {"id_token": "d.e-_.f", "access_token": "b", "refresh_token": "rt_2", "account_id": "me"}, "last_refresh": "2026-02-01T00:00:00.123Z"}`},
		{"Gemini CLI", `{"access_token": "ya29.a", "refresh_token": "1//0a", "expiry_date": 1}`, `{"access_token": "ya29.b", "refresh_token": "1//0b", "expiry_date": 2}`,
			`{"access_token": "ya29.b", "refresh_token": "1//0b", "expiry_date": 2}`},
		{"opencode, and a login from which it would take settings", `{"anthropic": {"type": "oauth", "refresh": "a", "access": "b", "expires": 1}}`,
			`{"anthropic": {"type": "oauth", "refresh": "c", "access": "d", "expires": 2}, "https://evil.example": {"type": "wellknown", "key": "K", "token": "x"}}`,
			`{"anthropic": {"type": "oauth", "refresh": "c", "access": "d", "expires": 2}}`},
		{"a token becomes no command", `{"anthropic": {"type": "oauth", "refresh": "a"}}`, `{"anthropic": {"type": "oauth", "refresh": "!sh evil"}}`, ""},
		{"nor anything beside the token", `{"copilot": {"access": "tid=1"}}`, `{"copilot": {"access": "tid=1;proxy-ep=evil.example"}}`, ""},
		{"pi's keys, which may be commands, stay", `{"anthropic": {"type": "api_key", "key": "sk-a"}}`, `{"anthropic": {"type": "api_key", "key": "sk-b"}}`, ""},
		{"another kind", `{"access": "a", "expires": 1}`, `{"access": 7, "expires": "soon"}`, ""},
		{"a token becomes no object", `{"access": "a"}`, `{"access": {"access": "b"}}`, ""},
		{"a new place", `{"tokens": {}}`, `{"tokens": {"access_token": "b"}, "access_token": "b"}`, ""},
		{"the same", `{"access": "a"}`, `{"access": "a"}`, ""},
		{"half of a file", `{"access": "a"}`, `{"access": "b`, ""},
		{"nothing", `{"access": "a"}`, ``, ""},
	} {
		merged, changed := renewed([]byte(c.person), []byte(c.back))
		if changed != (c.want != "") || changed && !sameJSON(t, merged, []byte(c.want)) {
			t.Errorf("%s: %v, %s; want %s", c.name, changed, merged, c.want)
		}
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		t.Fatalf("%s, %s", a, b)
	}
	return reflect.DeepEqual(x, y)
}
