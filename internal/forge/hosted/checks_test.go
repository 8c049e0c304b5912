package hosted

import (
	"reflect"
	"testing"
	"time"

	"signalbox/internal/forge"
)

func TestVerdictsAreWeighed(t *testing.T) {
	t.Parallel()
	verdict := func(name string, state forge.VerdictState) forge.Verdict {
		return forge.Verdict{Name: name, State: state}
	}
	passed, failed, pending := verdict("a", forge.Passed), verdict("b", forge.Failed), verdict("c", forge.Pending)
	for _, c := range []struct {
		name     string
		required []string
		verdicts []forge.Verdict
		want     judgement
	}{
		{name: "nothing at all", want: judgement{Silent: true}},
		{name: "all that is reported counts if nothing is required", verdicts: []forge.Verdict{passed, failed, pending}, want: judgement{Failed: []forge.Verdict{failed}, Missing: []string{"c"}}},
		{name: "an unknown state is not a passed one", verdicts: []forge.Verdict{verdict("d", "odd")}, want: judgement{Missing: []string{"d"}}},
		{name: "what is not required does not count", required: []string{"a"}, verdicts: []forge.Verdict{passed, failed, pending}},
		{name: "what is required and not reported is missing", required: []string{"a", "x"}, verdicts: []forge.Verdict{passed}, want: judgement{Missing: []string{"x"}}},
		{name: "a star is any text", required: []string{"ci / *"}, verdicts: []forge.Verdict{verdict("ci / a/b", forge.Failed), verdict("cd", forge.Failed)},
			want: judgement{Failed: []forge.Verdict{verdict("ci / a/b", forge.Failed)}}},
		{name: "a star that matches nothing is missing", required: []string{"ci.*"}, verdicts: []forge.Verdict{verdict("cix", forge.Passed)}, want: judgement{Missing: []string{"ci.*"}}},
	} {
		if got := judge(c.required, c.verdicts); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestLooksGetRarer(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	told := false
	f := New(Config{Server: noServer{}, Clock: func() time.Time { return now }, Told: func() bool { return told }})
	for age, want := range map[time.Duration][2]time.Duration{
		0: {10 * time.Second, time.Minute}, -time.Hour: {10 * time.Second, time.Minute}, 4 * time.Minute: {time.Minute, 4 * time.Minute}, 5 * time.Hour: {5 * time.Minute, 15 * time.Minute},
	} {
		for i := range want {
			told = i == 1
			if got := f.lookAgain(age).Sub(now); got != want[i] {
				t.Errorf("after %s, told of checks: %t, it looks again in %s, want %s", age, told, got, want[i])
			}
		}
	}
}

// noServer is asked nothing.
type noServer struct{ forge.Server }
