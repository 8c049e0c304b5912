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

func (s *responseStream) message(item object, text string) {
	s.begin(item, "content", []object{})
	part := func(kind string, fields object) {
		fields["item_id"], fields["output_index"], fields["content_index"] = item["id"], s.index, 0
		s.emit(kind, fields)
	}
	part("response.content_part.added", object{"part": outputText("")})
	for piece := range pieces(text) {
		part("response.output_text.delta", object{"delta": piece})
	}
	part("response.output_text.done", object{"text": text})
	part("response.content_part.done", object{"part": outputText(text)})
	s.end(item)
}

func (s *responseStream) call(item object, c call) {
	kind, key := c.itemWords()
	prefix := "response." + kind + "_" + key // response.function_call_arguments, response.custom_tool_call_input
	s.begin(item, key, "")
	for piece := range pieces(c.arguments) {
		s.emit(prefix+".delta", object{"item_id": item["id"], "output_index": s.index, "delta": piece})
	}
	s.emit(prefix+".done", object{"item_id": item["id"], "output_index": s.index, key: c.arguments})
	s.end(item)
}
