package heal_test

import (
	"fmt"
	"testing"
	"time"

	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/store"
)

func TestPassesThatSayTheSameAreOneEntry(t *testing.T) {
	t.Parallel()
	s := newBroken(t)
	for _, want := range []health.Result{health.PassFailed, health.PassFailed, health.PassCritical} {
		s.clock.move(time.Hour)
		s.pass(t, want)
	}
	for range 12 {
		s.clock.move(time.Hour)
		s.pass(t, health.PassCritical)
	}
	past, err := heal.Past(t.Context(), s.store)
	if err != nil || len(past.Passes) != 4 || past.Sum().Repairs != 3 {
		t.Fatalf("%d entries, %+v, %v", len(past.Passes), past.Sum(), err)
	}
	if last := past.Passes[3]; last.Again != 11 || last.LastAt != s.clock.now().Format(time.RFC3339) || past.Passes[2].Again != 0 {
		t.Errorf("the last are %+v", past.Passes[2:])
	}
}

// Entries dropped from a full log are still counted, and a repair that did not hold is not counted twice.
func TestTheSumsOfALogOutliveItsEntries(t *testing.T) {
	t.Parallel()
	s := newSite(t, unbroken)
	full := heal.History{}
	for i := range 1000 {
		full.Passes = append(full.Passes, health.Pass{ID: fmt.Sprint(i), Result: health.PassRepaired, Repairs: []health.Repair{
			{ErrorID: "e", Run: fmt.Sprint(i / 2), Outcome: []health.RepairOutcome{health.RepairFixed, health.RepairFailed}[i%2], Calls: 4, Tokens: 3, CostMicroUSD: 2}}})
	}
	full.Passes[0].Repairs[0].Run = "another"
	want := full.Sum()
	if err := store.Record[heal.History](s.store, "heal", "log").Update(t.Context(), func(h *heal.History) error { *h = full; return nil }); err != nil {
		t.Fatal(err)
	}
	for range 3 { // each of which repairs, or verifies
		s.breakIt(t, "order 17 has no price")
		s.pass(t, health.PassRepaired)
		s.pass(t, health.PassHealthy)
		want.Repairs, want.Fixed, want.Calls, want.Tokens, want.CostMicroUSD = want.Repairs+1, want.Fixed+1, want.Calls+1, want.Tokens+110, want.CostMicroUSD+2500
	}
	if past, err := heal.Past(t.Context(), s.store); err != nil || len(past.Passes) != 1000 || past.Sum() != want {
		t.Errorf("%d entries, %+v, want %+v, %v", len(past.Passes), past.Sum(), want, err)
	}
}
