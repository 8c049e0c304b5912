package forge

import (
	"strings"

	"signalbox/internal/lazy"
)

// Labels that say how urgent or how large an issue is, in the forms that projects use: P1, p1-high, priority: high, priority/P2, size/S, size: XL.
var (
	priorityLabel = lazy.Expression{Text: `^(?:(?:priority|prio)[\s:/_-]*)?p([0-4])(?:\b.*)?$`}
	priorityWord  = lazy.Expression{Text: `^(?:priority|prio)[\s:/_-]+([a-z]+)$`}
	sizeLabel     = lazy.Expression{Text: `^size[\s:/_-]*(xs|s|m|l|xl|xxl)$`}
)

// urgency are the words for priorities.
var urgency = map[string]string{"critical": "P0", "urgent": "P0", "highest": "P0", "high": "P1", "medium": "P2", "normal": "P2", "low": "P3", "lowest": "P4"}

// PriorityOf returns the most urgent priority that labels give, P0 to P4, or an empty text.
func PriorityOf(labels []string) (priority string) {
	for _, label := range labels {
		found, label := "", strings.ToLower(strings.TrimSpace(label))
		if at := priorityLabel.Regexp().FindStringSubmatch(label); at != nil {
			found = "P" + at[1]
		} else if at := priorityWord.Regexp().FindStringSubmatch(label); at != nil {
			found = urgency[at[1]]
		}
		if found != "" && (priority == "" || found < priority) {
			priority = found
		}
	}
	return priority
}

// SizeOf returns the size that a label gives, XS to XXL, or an empty text.
func SizeOf(labels []string) string {
	for _, label := range labels {
		if at := sizeLabel.Regexp().FindStringSubmatch(strings.ToLower(strings.TrimSpace(label))); at != nil {
			return strings.ToUpper(at[1])
		}
	}
	return ""
}
