package engine

import "testing"

func TestOnlyTheFrontOfTheLineLooksForASlotInTheOrderInWhichItCame(t *testing.T) {
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
				t.Fatalf("after %d have left, the %d. of the line is in front: %t, want %t", left, n+1, front, want)
			}
		}
		l.leave(places[left])
	}
	if last := l.join(); !last.front {
		t.Error("who joins an empty line is not in front")
	}
}
