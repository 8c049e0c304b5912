//go:build !race

package session

// printedBytes is what a session prints that prints much: a gigabyte.
const printedBytes = 1 << 30
