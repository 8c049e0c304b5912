package workflow

import "encoding/json"

// Unknown holds the keys of a document that this version has no word for. The
// documents are a public interface: what another program put there survives
// every update of ours (SPEC 0).
type Unknown map[string]json.RawMessage
