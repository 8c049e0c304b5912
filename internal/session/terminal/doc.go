// Package terminal owns what a terminal makes of the bytes a program prints: the
// emulated screen, escape sequences, modes and keys, and the markers by which an
// agent says there that its work is complete or can't be done. It refuses to
// know sessions: it reads bytes and holds no process.
package terminal
