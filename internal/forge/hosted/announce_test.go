package hosted

import (
	"slices"
	"testing"

	"signalbox/internal/forge"
)

func TestOurOwnVerdictsAreNoChecks(t *testing.T) {
	t.Parallel()
	ours := forge.Verdict{Name: forge.VerdictTests, State: forge.Failed}
	theirs := forge.Verdict{Name: "ci", State: forge.Passed}
	like := forge.Verdict{Name: "signalbox/lint", State: forge.Failed}
	for _, c := range []struct {
		name     string
		publish  bool
		required []string
		verdicts []forge.Verdict
		want     judgement
	}{
		{name: "with them alone, the forge is silent", publish: true, verdicts: []forge.Verdict{ours}, want: judgement{Silent: true}},
		{name: "those of another Signalbox too", verdicts: []forge.Verdict{ours}, want: judgement{Silent: true}},
		{name: "they stop nothing", publish: true, verdicts: []forge.Verdict{ours, theirs}},
		{name: "a name that only looks like ours counts", publish: true, verdicts: []forge.Verdict{like}, want: judgement{Failed: []forge.Verdict{like}}},
		{name: "what we publish isn't waited for", publish: true, required: []string{forge.VerdictTests, "ci"}, verdicts: []forge.Verdict{ours, theirs}},
		{name: "and is no CI", publish: true, required: []string{forge.VerdictTests}, verdicts: []forge.Verdict{ours}, want: judgement{Silent: true}},
		{name: "nor by a pattern", publish: true, required: []string{"signalbox/*"}, verdicts: []forge.Verdict{ours}, want: judgement{Silent: true}},
		{name: "unless the pattern is met by another's", publish: true, required: []string{"signalbox/*", "ci"}, verdicts: []forge.Verdict{like, theirs}, want: judgement{Failed: []forge.Verdict{like}}},
		{name: "required of someone else, it counts", required: []string{forge.VerdictTests}, verdicts: []forge.Verdict{ours}, want: judgement{Failed: []forge.Verdict{ours}}},
		{name: "and is waited for", required: []string{forge.VerdictTests}, verdicts: []forge.Verdict{theirs}, want: judgement{Missing: []string{forge.VerdictTests}}},
		{name: "a pattern for all is not met by ours", publish: true, required: []string{"*"}, verdicts: []forge.Verdict{ours}, want: judgement{Missing: []string{"*"}}},
	} {
		f := &Forge{Config: Config{Statuses: c.publish}}
		before := slices.Clone(c.verdicts)
		got := judge(f.ofOthers(c.required, c.verdicts))
		if len(got.Failed) != len(c.want.Failed) || !slices.Equal(got.Missing, c.want.Missing) || got.Silent != c.want.Silent || !slices.Equal(before, c.verdicts) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
