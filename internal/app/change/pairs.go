package change

// Pair is a row of a change side by side; a side without a line is nil.
type Pair struct{ Left, Right *Line }

// Pairs returns the hunk's rows side by side: lines that were replaced stand beside those that replace them.
func (h *Hunk) Pairs() (rows []Pair) {
	for i := 0; i < len(h.Lines); {
		if h.Lines[i].Kind == Same {
			rows, i = append(rows, Pair{&h.Lines[i], &h.Lines[i]}), i+1
			continue
		}
		removed := h.runOf(Removed, i)
		added := h.runOf(Added, removed)
		for n := range max(removed-i, added-removed) {
			var row Pair
			if i+n < removed {
				row.Left = &h.Lines[i+n]
			}
			if removed+n < added {
				row.Right = &h.Lines[removed+n]
			}
			rows = append(rows, row)
		}
		i = added
	}
	return rows
}

// runOf returns the end of the lines of one kind from i on.
func (h *Hunk) runOf(k Kind, i int) int {
	for i < len(h.Lines) && h.Lines[i].Kind == k {
		i++
	}
	return i
}
