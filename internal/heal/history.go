package heal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"time"

	"signalbox/internal/health"
	"signalbox/internal/store"
)

// The loop's private records, below .signalbox/heal. Losing one costs history and not correctness: state.json holds everything that decides.
const (
	recordKind = "heal"
	logRecord  = "log"
	seenRecord = "checks"
)

// keptPasses is how many passes the log holds.
const keptPasses = 1000

// History is the log of passes that found or changed something, oldest first.
type History struct {
	Passes []health.Pass `json:"passes"`
	// Earlier sums up the repairs of passes that have dropped out of the log.
	Earlier Sum `json:"earlier,omitzero"`
}

// add writes a pass to the log and replaces an entry of the same pass. A pass with the same result as the one before, and no
// repair judged, only increases that entry's count.
func (h *History) add(ended health.Pass) {
	if i := len(h.Passes) - 1; i >= 0 && h.Passes[i].LastID == ended.ID {
		return
	}
	h.Passes = slices.DeleteFunc(h.Passes, func(known health.Pass) bool { return known.ID == ended.ID })
	judgedNothingNew := func(a, b health.Repair) bool {
		return a.ErrorID == b.ErrorID && a.Request == b.Request && a.Run == b.Run && a.Outcome == b.Outcome && a.Why == b.Why && reflect.DeepEqual(a.Next, b.Next) &&
			a.Outcome != health.RepairFixed && a.Outcome != health.RepairFailed
	}
	if i := len(h.Passes) - 1; i >= 0 && h.Passes[i].Result == ended.Result && slices.EqualFunc(h.Passes[i].Repairs, ended.Repairs, judgedNothingNew) {
		h.Passes[i].Again, h.Passes[i].LastID, h.Passes[i].LastAt = h.Passes[i].Again+1, ended.ID, ended.EndedAt
		return
	}
	h.Passes = append(h.Passes, ended)
	if drop := len(h.Passes) - keptPasses; drop > 0 {
		all := h.Sum()
		h.Passes = slices.Delete(h.Passes, 0, drop)
		left := History{Passes: h.Passes}.Sum()
		h.Earlier = Sum{Repairs: all.Repairs - left.Repairs, Fixed: all.Fixed - left.Fixed, Calls: all.Calls - left.Calls,
			Tokens: all.Tokens - left.Tokens, CostMicroUSD: all.CostMicroUSD - left.CostMicroUSD} // the total stays the same
	}
}

// Past reads the log.
func Past(ctx context.Context, s *store.Store) (History, error) {
	past, err := store.Record[History](s, recordKind, logRecord).Load(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return past, fmt.Errorf("read log of passes: %w", err)
	}
	return past, nil
}

// log writes a pass to the log.
func (p *pass) log(ctx context.Context, ended health.Pass) error {
	if ended.ID == "" {
		return nil
	}
	return store.Record[History](p.Store, recordKind, logRecord).Update(ctx, func(past *History) error {
		past.add(ended)
		return nil
	})
}

// memory is what earlier passes saw, by check.
type memory struct {
	Checks map[string]sight `json:"checks"`
	// fresh is what this pass saw, not yet written.
	fresh map[string]sight
}

// sight is the last observation of one check.
type sight struct {
	// PassedAt is when a check with an interval last passed; zero if it failed since.
	PassedAt time.Time `json:"passed_at,omitzero"`
	// Offset is how far a log was read, in bytes, and Inode is which file that was.
	Offset int64  `json:"offset,omitzero"`
	Inode  uint64 `json:"inode,omitzero"`
}

// remember writes this pass's observations if they changed.
func (p *pass) remember(ctx context.Context) error {
	if len(p.seen.fresh) == 0 {
		return nil
	}
	return store.Record[memory](p.Store, recordKind, seenRecord).Update(ctx, func(m *memory) error {
		if m.Checks == nil {
			m.Checks = map[string]sight{}
		}
		for id, s := range p.seen.fresh {
			m.Checks[id] = s
		}
		return nil
	})
}

// Sum adds up the repairs of several passes. A waiting repair doesn't count yet.
type Sum struct {
	Repairs      int   `json:"repairs"`
	Fixed        int   `json:"fixed"`
	Calls        int   `json:"calls"`
	Tokens       int64 `json:"tokens"`
	CostMicroUSD int64 `json:"cost_micro_usd"`
}

// Sum adds up the logged repairs. A repair that counted as fixed and did not hold is in the log twice, and counts as failed.
func (h History) Sum() (s Sum) {
	type repair struct{ errorID, run string }
	fixed := map[repair]bool{}
	s = h.Earlier
	for _, p := range h.Passes {
		for _, r := range p.Repairs {
			this := repair{r.ErrorID, r.Run}
			if fixed[this] && r.Outcome == health.RepairFailed {
				delete(fixed, this)
				s.Fixed--
				continue
			}
			if r.Outcome != health.RepairFixed && r.Outcome != health.RepairFailed {
				continue
			}
			s.Repairs++
			if r.Outcome == health.RepairFixed {
				s.Fixed++
				fixed[this] = r.Run != ""
			}
			s.Calls, s.Tokens, s.CostMicroUSD = s.Calls+r.Calls, s.Tokens+r.Tokens, s.CostMicroUSD+r.CostMicroUSD
		}
	}
	return s
}
