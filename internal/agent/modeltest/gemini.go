package modeltest

import (
	"encoding/json"
	"iter"
	"net/http"
	"path"
	"strings"
	"time"
)

type gemini struct{}

// geminiContent is a message.
type geminiContent struct {
	Role  string `json:"role"`
	Parts []struct {
		Text             string `json:"text"`
		FunctionResponse *struct {
			Response json.RawMessage `json:"response"`
		} `json:"functionResponse"`
	} `json:"parts"`
}

func (gemini) read(r *http.Request, body []byte) (Conversation, error) {
	var request struct {
		SystemInstruction geminiContent   `json:"systemInstruction"`
		Contents          []geminiContent `json:"contents"`
		Tools             []struct {
			FunctionDeclarations []struct {
				Name                 string `json:"name"`
				Parameters           Schema `json:"parameters"`
				ParametersJSONSchema Schema `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		GenerationConfig struct {
			ResponseJSONSchema *Schema `json:"responseJsonSchema"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return Conversation{}, err
	}
	model, method, _ := strings.Cut(path.Base(r.URL.Path), ":")
	c := Conversation{API: Gemini, Model: model, Stream: strings.HasPrefix(method, "stream"), Form: request.GenerationConfig.ResponseJSONSchema}
	for _, t := range request.Tools {
		for _, f := range t.FunctionDeclarations {
			if f.Parameters.Properties == nil {
				f.Parameters = f.ParametersJSONSchema
			}
			c.Tools = append(c.Tools, Offer{Name: f.Name, Schema: f.Parameters})
		}
	}
	c.instructs(request.SystemInstruction.text())
	for _, content := range request.Contents {
		results := 0
		for _, p := range content.Parts {
			if p.FunctionResponse != nil {
				results++
				c.Results = append(c.Results, string(p.FunctionResponse.Response))
			}
		}
		if results == 0 && content.Role != "model" {
			c.asks(content.text())
		}
	}
	return c, nil
}

func (g geminiContent) text() string {
	var lines []string
	for _, p := range g.Parts {
		lines = append(lines, p.Text)
	}
	return strings.Join(lines, "\n")
}

func (gemini) whole(a answer) any {
	var parts []object
	if a.text != "" {
		parts = append(parts, object{"text": a.text})
	}
	return a.candidate(append(parts, a.functionCalls()...), "STOP")
}

func (a answer) functionCalls() (parts []object) {
	for _, call := range a.calls {
		parts = append(parts, object{"functionCall": object{"name": call.name, "args": json.RawMessage(call.arguments)}})
	}
	return parts
}

func (a answer) candidate(parts []object, finish string) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	return object{"candidates": []object{candidate}, "modelVersion": a.model, "responseId": a.id, "createTime": time.Unix(a.created, 0).UTC(),
		"usageMetadata": object{"promptTokenCount": a.usage.Input, "cachedContentTokenCount": a.usage.Cached,
			"candidatesTokenCount": a.usage.Output, "totalTokenCount": a.usage.Input + a.usage.Output}}
}

// events returns whole candidates, each with a part: calls are never streamed in pieces.
func (gemini) events(a answer) iter.Seq[event] {
	return func(yield func(event) bool) {
		for piece := range pieces(a.text) {
			if !yield(event{data: a.candidate([]object{{"text": piece}}, "")}) {
				return
			}
		}
		parts := a.functionCalls()
		if parts == nil {
			parts = []object{{"text": ""}}
		}
		yield(event{data: a.candidate(parts, "STOP")})
	}
}
