//go:build race

package session

// printedBytes is less under the race detector, which makes a host twenty times slower.
const printedBytes = 32 << 20
