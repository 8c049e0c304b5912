// Package health decides for the self-healing loop: what state.json says, which errors a pass found, whether an error is repaired, retried after a
// cooldown or handed to a person, and when the next pass is due.
//
// It is pure: it reads no clock and no file, and starts nothing. internal/heal performs the passes.
package health
