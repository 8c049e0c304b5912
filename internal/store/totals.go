package store

import (
	"github.com/go-json-experiment/json"

	"signalbox/internal/health"
	"signalbox/internal/store/strict"
)

// The totals of state.json have a place of their own, for the day when neither it nor its backup can be
// read: the loop then begins anew, and its totals go on (H4, H5).
const (
	totalsDir  = privateDir + "/heal"
	totalsFile = "totals.json"
)

// keepTotals writes those of a state.json that is about to be written, so that at no instant the
// document says more than they do.
func (s *Store) keepTotals(state []byte) error {
	var totals health.Totals
	if err := json.Unmarshal(state, &totals); err != nil {
		return writeError(totalsDir+"/"+totalsFile, err)
	}
	data, err := s.encode(totals, indented)
	if err != nil {
		return writeError(totalsDir+"/"+totalsFile, err)
	}
	f, err := s.makeFolder(totalsDir, privateMode)
	if err != nil {
		return err
	}
	defer f.close()
	return f.put(totalsFile, data, privateFile)
}

// goOnWithTotals gives a state that is begun anew the totals of the one before. Some that cannot be read are lost.
func (s *Store) goOnWithTotals(h *health.State) {
	f, err := s.openFolder(totalsDir)
	if err != nil {
		return
	}
	defer f.close()
	if data, err := f.read(totalsFile); err == nil {
		if totals, err := strict.Decode[health.Totals](data, ""); err == nil {
			h.RestoreTotals(totals)
		}
	}
}
