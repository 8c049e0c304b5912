// Package health is the judgement of the self-healing loop: what state.json says, which errors a pass found, whether one is
// repaired, tried again after a while or handed to a person, and when the next pass is due.
//
// It is pure: it reads no clock and no file, and starts nothing. What performs a pass is internal/heal.
package health
