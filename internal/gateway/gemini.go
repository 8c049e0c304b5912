package gateway

import "github.com/go-json-experiment/json/jsontext"

// gemini is Google's generateContent. Every chunk of a stream is a whole document with the usage so far; the last one has a finishReason.
type gemini struct{}

func (gemini) read(document []byte, r *reading) {
	var chunk struct {
		Model      string `json:"modelVersion"`
		Candidates []struct {
			Content struct {
				Parts []struct {
					Text string         `json:"text"`
					Call jsontext.Value `json:"functionCall"`
				} `json:"parts"`
			} `json:"content"`
			Finish string `json:"finishReason"`
		} `json:"candidates"`
		Feedback struct {
			Block string `json:"blockReason"`
		} `json:"promptFeedback"`
		Usage *geminiUsage   `json:"usageMetadata"`
		Error jsontext.Value `json:"error"`
	}
	if !decode(document, &chunk) {
		return
	}
	if chunk.Model != "" {
		r.model = chunk.Model
	}
	for _, candidate := range chunk.Candidates {
		for _, part := range candidate.Content.Parts {
			r.says(part.Text, string(part.Call))
		}
		r.whole = r.whole || candidate.Finish != ""
	}
	r.whole = r.whole || chunk.Feedback.Block != ""
	if u := chunk.Usage; u != nil { // in the middle of a stream it may lack the answer, which is a guess until then
		t := tokens{input: believed(u.Prompt) + believed(u.Tools), read: u.Cached, output: believed(u.Thoughts)}
		text := r.text
		if u.Candidates != nil {
			t.output += believed(*u.Candidates)
			text = 0
		}
		r.report(t)
		r.text = text
	}
	if problem := problemIn(chunk.Error); problem != nil {
		r.problem = problem
	}
}

// geminiUsage counts hidden reasoning (thoughts) apart from the answer, and the results of Google's own tools apart from the prompt.
type geminiUsage struct {
	Prompt     int64  `json:"promptTokenCount"`
	Tools      int64  `json:"toolUsePromptTokenCount"`
	Cached     int64  `json:"cachedContentTokenCount"`
	Candidates *int64 `json:"candidatesTokenCount"`
	Thoughts   int64  `json:"thoughtsTokenCount"`
}

func (gemini) refusal(status int, message string) any {
	kind := "INVALID_ARGUMENT"
	switch status {
	case 401:
		kind = "UNAUTHENTICATED"
	case 429:
		kind = "RESOURCE_EXHAUSTED"
	}
	return map[string]any{"error": map[string]any{"code": status, "status": kind, "message": message}}
}
