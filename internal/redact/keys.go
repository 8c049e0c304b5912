package redact

import "signalbox/internal/lazy"

// namedValue is a value behind the name of a secret: password=…, ?token=…, "api_key": "…", Authorization: Bearer ….
var namedValue = lazy.Pattern(`(?i)((?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|authorization)[\w-]{0,20}["']?\s{0,3}[:=]\s{0,3}["']?(?:(?:bearer|basic|token)\s)?)[^\s"'&;,]{4,}`)

// Named returns s without the values after a secret's name. It is for programs' logs. In code or prose it would hide too much, so a Redactor does
// not do it.
func Named(s string) string { return namedValue().ReplaceAllString(s, "${1}"+Replacement) }
