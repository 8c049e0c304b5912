// Package schemas holds the JSON Schemas of the documents as files, for
// programs of any language. They are generated; see internal/schema.
package schemas

import "embed"

// Files are the schemas, <kind>.json each.
//
//go:embed *.json
var Files embed.FS
