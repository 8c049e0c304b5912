package agent

// Conversation identifies an agent's own memory of a call, so that a later call can resume it.
type Conversation struct {
	// ID is the agent's own id. ValidConversation accepted it.
	ID string `json:"id"`
	// Usage is the total the agent had reported for the conversation, for agents whose counts continue when it is resumed.
	Usage Usage `json:"usage,omitzero"`
}

// ValidConversation reports whether an id from an agent is safe to pass back to it as an argument.
func ValidConversation(id string) bool {
	if id == "" || len(id) > 128 || id[0] == '-' {
		return false
	}
	for _, c := range []byte(id) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// Endpoint is where an agent reaches its model instead of at its vendor.
type Endpoint struct {
	// URL begins with http:// and does not end in a slash. The paths of the vendor's API follow it.
	URL string
	// Key replaces the API key. It is valid at this URL only.
	Key string
}
