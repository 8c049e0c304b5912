package modeltest

import "maps"

// responseStream numbers the events of a response and ties those of an item to it.
type responseStream struct {
	yield   func(event) bool
	stopped bool
	number  int
	index   int // of the item
}

func (s *responseStream) emit(kind string, fields object) {
	if s.stopped {
		return
	}
	fields["type"], fields["sequence_number"] = kind, s.number
	s.number++
	s.stopped = !s.yield(event{name: kind, data: fields})
}

// begin announces an item: as it will be, without its content.
func (s *responseStream) begin(item object, key string, empty any) {
	begun := maps.Clone(item)
	begun["status"], begun[key] = "in_progress", empty
	s.emit("response.output_item.added", object{"output_index": s.index, "item": begun})
}

func (s *responseStream) end(item object) {
	s.emit("response.output_item.done", object{"output_index": s.index, "item": item})
}
