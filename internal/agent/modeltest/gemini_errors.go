package modeltest

import "net/http"

// refuse says with the details of the RPC behind it what there is beside the status.
func (gemini) refuse(f failed, header http.Header) (status int, body any) {
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
		// Only the name tells a limit per minute from one per day.
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
	return status, object{"error": problem}
}

// inform: Gemini breaks the form of its stream off for an error.
func (gemini) inform(f failed) event {
	_, body := gemini{}.refuse(f, http.Header{})
	return event{data: body, bare: true}
}
