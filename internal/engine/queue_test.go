package engine

import "testing"

func TestOnlyTheFrontOfTheLineTriesForASlotInOrder(t *testing.T) {
	t.Parallel()
	var l line
	var places []*place
	for range 100 {
		places = append(places, l.join())
	}
	for left := 0; left < len(places); left++ {
		for n, p := range places[left:] {
			front := false
			select {
			case <-p.turn:
				front = true
			default:
			}
			if want := n < inFront; front != want {
				t.Fatalf("after %d left, number %d in the line is in front: %t, want %t", left, n+1, front, want)
			}
		}
		l.leave(places[left])
	}
	if last := l.join(); !last.front {
		t.Error("a run that joins an empty line isn't in front")
	}
}
