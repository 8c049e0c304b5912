package modeltest

import (
	"encoding/json"
	"iter"
	"net/http"
	"path"
	"strings"
	"time"
)

// gemini is Google's generateContent.
type gemini struct{}

// geminiContent is a message.
type geminiContent struct {
	Role  string `json:"role"`
	Parts texts  `json:"parts"`
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
	c.instructs(request.SystemInstruction.Parts.String())
	for _, content := range request.Contents {
		results := 0
		for _, p := range content.Parts {
			if p.FunctionResponse != nil {
				results++
				c.Results = append(c.Results, string(p.FunctionResponse.Response))
			}
		}
		if results == 0 && content.Role != "model" {
			c.asks(content.Parts.String())
		}
	}
	return c, nil
}

func (gemini) whole(a answer) any { return a.candidate(a.text, a.calls, "STOP") }

// candidate returns a part of the answer, or all of it.
func (a answer) candidate(text string, calls []call, finish string) object {
	var parts []object
	if text != "" || len(calls) == 0 {
		parts = append(parts, object{"text": text})
	}
	for _, call := range calls {
		parts = append(parts, object{"functionCall": object{"name": call.name, "args": json.RawMessage(call.arguments)}})
	}
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
			if !yield(event{data: a.candidate(piece, nil, "")}) {
				return
			}
		}
		yield(event{data: a.candidate("", a.calls, "STOP")})
	}
}

// refuse adds the limit and its end as details, in the format of Google's RPCs. In a stream the error is bare: Gemini leaves the format of its
// stream for it.
func (gemini) refuse(f failed, header http.Header) refusal {
	kinds := map[Kind][2]string{
		Unauthorized: {"UNAUTHENTICATED", "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential."},
		Forbidden:    {"PERMISSION_DENIED", "The caller does not have permission"},
		RateLimited:  {"RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."},
		UsageLimited: {"RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."},
		ServerError:  {"INTERNAL", "An internal error has occurred. Please retry or report the problem."},
		Overloaded:   {"UNAVAILABLE", "The model is overloaded. Please try again later."},
		Overflow:     {"INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."},
	}
	f.retryAfter(header)
	kind, status := kinds[f.fault.Kind], statuses[f.fault.Kind]
	problem := object{"code": status, "status": kind[0], "message": kind[1]}
	if status == http.StatusTooManyRequests {
		// A limit per minute and one per day differ only in the quota's name.
		period := "Minute"
		if f.fault.Kind == UsageLimited {
			period = "Day"
		}
		details := []object{{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []object{{
			"quotaMetric": "generativelanguage.googleapis.com/generate_content_requests",
			"quotaId":     "GenerateRequestsPer" + period + "PerProjectPerModel", "quotaValue": "10",
			"quotaDimensions": object{"location": "global", "model": f.model}}}}}
		if f.fault.RetryAfter > 0 {
			details = append(details, object{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f.seconds() + "s"})
		}
		problem["details"] = details
	}
	body := object{"error": problem}
	return refusal{status, body, event{data: body, bare: true}}
}
