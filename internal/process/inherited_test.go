package process_test

import (
	"bytes"
	"testing"
)

func TestInheritedIgnoredSignalsAreNotPassedOnToChildren(t *testing.T) {
	t.Parallel()
	c := child("drop and hang up", "PATH=/usr/bin:/bin")
	c.Args = append([]string{"/bin/sh", "-c", `trap "" HUP TTOU; umask 137; exec "$@"`, "sh"}, c.Args...)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	run(t, c)
	if want := "alive true false\nSigIgn:\t0000000000000000\numask 037\n"; said.String() != want {
		t.Errorf("got %q, want %q", said.String(), want)
	}
}
