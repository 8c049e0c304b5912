package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// turns runs each act once per loop of b, turn by turn because the cost of a
// flush drifts, and returns the median of each.
func turns(b *testing.B, acts ...func()) []time.Duration {
	b.Helper()
	took := make([][]time.Duration, len(acts))
	for b.Loop() {
		for i, act := range acts {
			begun := time.Now()
			act()
			took[i] = append(took[i], time.Since(begun))
		}
	}
	medians := make([]time.Duration, len(acts))
	for i := range took {
		medians[i] = median(took[i])
	}
	return medians
}

// must makes an act of what may fail.
func must(b *testing.B, act func() error) func() {
	return func() {
		if err := act(); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkStore(b *testing.B) *Store {
	b.Helper()
	s, err := Open(b.Context(), Config{Root: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// BenchmarkUpdate measures one durable update beside the least that a durable
// replacement of as many bytes costs. x-floor is the ratio.
func BenchmarkUpdate(b *testing.B) {
	for name, message := range map[string]int{"status": 0, "4KB": 4000} {
		b.Run(name, func(b *testing.B) {
			s := benchmarkStore(b)
			round := 0
			update := must(b, func() error {
				round++
				return s.IssueStatus(42).Update(b.Context(), func(status *registry.IssueStatus) error {
					status.Set(registry.IssueError, fmt.Sprintf("%06d", round), string(bytes.Repeat([]byte("x"), message)), testStart)
					return nil
				})
			})
			update()
			size := len(readFile(b, s, statusDir+"/42.json"))
			took := turns(b, newFloor(b, size), update)
			b.ReportMetric(float64(size), "bytes")
			b.ReportMetric(float64(took[1])/float64(took[0]), "x-floor")
			b.ReportMetric(float64(took[1].Microseconds()), "update-µs")
		})
	}
}

func readFile(b *testing.B, s *Store, name string) []byte {
	b.Helper()
	data, err := os.ReadFile(filepath.Join(s.path, name))
	if err != nil {
		b.Fatal(err)
	}
	return data
}

// BenchmarkEnvironments measures one new phase in environments.json by its
// number of entries. x-floor is the ratio to a durable replacement of as many
// bytes, x-ten the one to a document of ten entries.
func BenchmarkEnvironments(b *testing.B) {
	ten := newEnvironments(b, 10)
	for _, entries := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprint(entries), func(b *testing.B) {
			s := newEnvironments(b, entries)
			took := turns(b, newFloor(b, len(readFile(b, s, "environments.json"))), setPhase(b, ten, 10), setPhase(b, s, entries))
			b.ReportMetric(float64(took[2])/float64(took[0]), "x-floor")
			b.ReportMetric(float64(took[2])/float64(took[1]), "x-ten")
			b.ReportMetric(float64(took[2].Microseconds())/1000, "update-ms")
		})
	}
}

func newEnvironments(b *testing.B, entries int) *Store {
	b.Helper()
	s := benchmarkStore(b)
	must(b, func() error {
		return s.Environments().Update(b.Context(), func(doc *registry.Environments) error {
			for i := range entries {
				doc.Environments = append(doc.Environments, registry.Environment{EnvID: fmt.Sprintf("env-%d", i), IssueNumber: i + 1,
					Branch: fmt.Sprintf("signalbox/%d-add-a-button", i+1), Title: "Add a button", Status: registry.EnvironmentActive,
					Phase: workflow.TDDRed, Step: workflow.TDDRed.Step(), CreatedAt: testStart, LastUsedAt: testStart})
			}
			return nil
		})
	})()
	return s
}

func setPhase(b *testing.B, s *Store, entries int) func() {
	phase := workflow.TDDRed
	return must(b, func() error {
		return s.Environments().Update(b.Context(), func(doc *registry.Environments) error {
			env, err := doc.Find(fmt.Sprintf("env-%d", entries/2))
			if err != nil {
				return err
			}
			phase = workflow.TDDRed + workflow.TDDGreen - phase
			env.Phase, env.Step = phase, phase.Step()
			return nil
		})
	})
}

// BenchmarkListing measures a listing of ten thousand issues
// beside reading as many files in the plainest way, one after the other and
// without looking into them. x-plain is the ratio.
func BenchmarkListing(b *testing.B) {
	const files = 10000
	s := benchmarkStore(b)
	dir := filepath.Join(s.path, statusDir)
	must(b, func() error { return os.MkdirAll(dir, publicDir) })()
	for i := range files {
		status := registry.IssueStatus{Issue: i + 1}
		status.Set(statusWords[i%len(statusWords)], registry.SessionName(i+1), "", testStart)
		if status.Status == registry.IssueError {
			status.ErrorMessage = "Session unexpectedly terminated"
		}
		must(b, func() error {
			data, err := s.encode(&status, indented)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", i+1)), data, publicFile)
		})()
	}
	plainly := must(b, func() error {
		entries, err := os.ReadDir(dir)
		for _, entry := range entries {
			if _, err := os.ReadFile(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
		return err
	})
	list := must(b, func() error {
		all, err := s.IssueStatuses(b.Context())
		if bad := slices.IndexFunc(all, func(e IssueStatusEntry) bool { return e.Err != nil }); err == nil && (len(all) != files || bad >= 0) {
			err = fmt.Errorf("%d files listed, number %d is broken", len(all), bad)
		}
		return err
	})
	took := turns(b, plainly, list)
	b.ReportMetric(float64(took[1])/float64(took[0]), "x-plain")
	b.ReportMetric(float64(took[1].Microseconds())/1000, "list-ms")
}
