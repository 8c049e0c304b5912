package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"signalbox/internal/engine"
	"signalbox/internal/flock"
	"signalbox/internal/lazy"
	"signalbox/internal/workflow"
)

// LockRecord is the content of a lock file: its holder. It is written in place,
// through the locked descriptor; a reader treats a torn record as none.
type LockRecord struct {
	// Epoch grows with every holder and never goes back. It comes first so that even a torn
	// record shows it.
	Epoch  int64  `json:"epoch"`
	Owner  string `json:"owner"`
	RunID  string `json:"run_id"`
	Host   string `json:"host"`
	BootID string `json:"boot_id"`
	PID    int    `json:"pid"`
	// PIDStart is clock ticks after boot.
	PIDStart   uint64     `json:"pid_start"`
	AcquiredAt time.Time  `json:"acquired_at"`
	RenewedAt  time.Time  `json:"renewed_at"`
	TTLSec     int        `json:"ttl_sec"`
	ReleasedAt *time.Time `json:"released_at"`
}

// Holding is a lock that is held now.
type Holding struct {
	// Name is "request-RQ-1" or "slot-0".
	Name   string
	Record LockRecord
}

// maxRecord is bytes; a record is a tenth of it.
const maxRecord = 4096

var holdingName = lazy.Pattern(`^((?:request|slot)-[A-Za-z0-9._-]+)\.lock$`)

func (s *Store) newRecord(owner engine.Owner, epoch int64) LockRecord {
	ttl := int(owner.TTL.Round(time.Second) / time.Second)
	if owner.TTL <= 0 {
		ttl = workflow.DefaultLockTTLSec
	}
	now := s.clock().UTC()
	return LockRecord{Epoch: epoch, Owner: owner.Name, RunID: owner.RunID, Host: s.self.Host, BootID: s.self.BootID,
		PID: s.self.PID, PIDStart: s.self.Start, AcquiredAt: now, RenewedAt: now, TTLSec: max(ttl, 1)}
}

// holdsFromAfar reports whether the record's holder is on a machine whose flock we
// may not see, and its TTL has not run out. A local file system has no such holder:
// there, a record of another boot means that the holder died with it.
func (s *Store) holdsFromAfar(r LockRecord) bool {
	if r.PID == 0 || r.ReleasedAt != nil || r.BootID == s.self.BootID || r.Host == s.self.Host && !s.shared {
		return false
	}
	return s.clock().Before(r.RenewedAt.Add(time.Duration(r.TTLSec) * time.Second))
}

// readRecord reads a record as far as it is whole. An unreadable one is an error:
// treating it as none would let the epoch go back.
func readRecord(file *os.File) (LockRecord, error) {
	buffer := make([]byte, maxRecord)
	n, err := file.ReadAt(buffer, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return LockRecord{}, fmt.Errorf("read lock record: %w", err)
	}
	line, _, _ := bytes.Cut(buffer[:n], []byte("\n"))
	var record LockRecord
	if json.Unmarshal(line, &record) != nil {
		// The epoch comes first, before the tear.
		return LockRecord{Epoch: record.Epoch}, nil
	}
	return record, nil
}

func writeRecord(file *os.File, record LockRecord) error {
	line, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("write lock record: %w", err)
	}
	line = append(line, '\n')
	if len(line) > maxRecord {
		return fmt.Errorf("write lock record: %d bytes", len(line))
	}
	if _, err := file.WriteAt(line, 0); err != nil {
		return fmt.Errorf("write lock record: %w", err)
	}
	if err := file.Truncate(int64(len(line))); err != nil {
		return fmt.Errorf("write lock record: %w", err)
	}
	return nil
}

// Holders lists the held requests and slots, by name. A record whose flock is free
// doesn't count.
func (s *Store) Holders(ctx context.Context) ([]Holding, error) {
	entries, err := s.list(locksDir)
	if err != nil {
		return nil, err
	}
	var all []Holding
	for _, entry := range entries {
		m := holdingName().FindStringSubmatch(entry.Name())
		if m == nil {
			continue
		}
		record, held, err := s.probe(entry.Name())
		if err := errors.Join(err, ctx.Err()); err != nil {
			return nil, fmt.Errorf("look at %s: %w", path.Join(locksDir, entry.Name()), err)
		}
		if held {
			all = append(all, Holding{m[1], record})
		}
	}
	slices.SortFunc(all, func(a, b Holding) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Healing returns the holder of the self-healing loop's lock; nil if no loop runs.
func (s *Store) Healing(ctx context.Context) (*LockRecord, error) {
	entries, err := s.list(locksDir)
	if err != nil || !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == healingLock }) {
		return nil, err
	}
	record, held, err := s.probe(healingLock)
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, fmt.Errorf("look at %s: %w", path.Join(locksDir, healingLock), err)
	}
	if !held {
		return nil, nil
	}
	return &record, nil
}

func (s *Store) probe(name string) (LockRecord, bool, error) {
	file, _, err := s.locks.openRegular(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return LockRecord{}, false, nil
	}
	if err != nil {
		return LockRecord{}, false, err
	}
	defer func() { _ = flock.Release(file) }()
	free, err := flock.TryShared(file)
	if err != nil {
		return LockRecord{}, false, err
	}
	record, err := readRecord(file)
	if err != nil || !free || s.holdsFromAfar(record) {
		return record, err == nil, err
	}
	rests, err := s.rests(name, record)
	return record, rests, err
}
