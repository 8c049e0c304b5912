// Package session owns sessions: one agent's process for one issue, held by a small host process
// that owns its terminal, records what it prints, finds out what it came to, and serves whoever
// attaches or watches. It refuses to know why an agent runs, and what follows from its end.
package session
