package hosted

import (
	"slices"
	"strconv"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/lazy"
	"signalbox/internal/redact"
)

// Limits of what is taken from an issue's text.
const (
	maxNeeded      = 20
	maxRelated     = 10
	maxTasks       = 50
	maxAttachments = 20
	maxAddress     = 500
)

var (
	fence    = lazy.Expression{Text: "^ {0,3}(```+|~~~+)"}
	needs    = lazy.Expression{Text: `(?i)^\s*(?:[-*+]\s+)?(?:\[[ x]\]\s+)?\**(?:depends[ -]on|blocked by)\**\s*:?\**\s+(.+)$`}
	partOf   = lazy.Expression{Text: `(?i)^\s*(?:[-*+]\s+)?\**(?:part of|parent|parent issue|sub-issue of)\**\s*:?\**\s+#([1-9]\d{0,8})\b`}
	task     = lazy.Expression{Text: `(?i)^\s*[-*+]\s+\[[ x]\]\s+#([1-9]\d{0,8})\b`}
	todo     = lazy.Expression{Text: `^\s*(?:[-*+]|\d{1,9}[.)])\s+\[ \]`}
	ownIssue = lazy.Expression{Text: `^#([1-9]\d{0,8})$`}
	image    = lazy.Expression{Text: `!\[([^\]]*)\]\(\s*<?([^\s)>]+)`}
	linked   = lazy.Expression{Text: `(?:^|[^!])\[([^\]]*)\]\(\s*<?([^\s)>]+)`}
	imageTag = lazy.Expression{Text: `(?i)<img\b[^>]*?\bsrc\s*=\s*["']?([^\s"'>]+)`}
	naked    = lazy.Expression{Text: `https?://[^\s<>()\[\]"'` + "`" + `]+`}
	uploaded = lazy.Expression{Text: `(?i)/(?:user-attachments|attachments|uploads|files)/|\.(?:png|jpe?g|gif|webp|svg|mp4|mov|webm|pdf|zip|gz|txt|log|csv|json|patch|diff)(?:[?#]|$)`}
)

// parts hands over a text's code blocks and what is between them.
func parts(text string, part func(block string, code bool)) {
	var block strings.Builder
	closing := "" // what ends the block of code that we are in
	end := func(code bool) {
		part(block.String(), code)
		block.Reset()
	}
	for line := range strings.Lines(text) {
		mark := fence.Regexp().FindStringSubmatch(line)
		switch {
		case mark != nil && closing == "":
			end(false)
			closing = mark[1]
			block.WriteString(line)
		case mark != nil && strings.HasPrefix(mark[1], closing) && strings.Trim(line, " \t\r\n"+closing[:1]) == "":
			block.WriteString(line)
			end(true)
			closing = ""
		default:
			block.WriteString(line)
		}
	}
	end(closing != "")
}

// readText fills in what an issue's text says about other issues. A number is one of this repository.
func readText(r *forge.Request) {
	parts(r.Body, func(block string, code bool) {
		if code {
			return
		}
		for line := range strings.Lines(block) {
			line = strings.TrimRight(line, "\r\n")
			if found := needs.Regexp().FindStringSubmatch(line); found != nil {
				r.DependsOn = append(r.DependsOn, issuesIn(found[1])...)
			}
			if found := partOf.Regexp().FindStringSubmatch(line); found != nil {
				r.Related = append(r.Related, forge.Related{Number: atoi(found[1]), Parent: true})
			}
			if found := task.Regexp().FindStringSubmatch(line); found != nil {
				r.Related = append(r.Related, forge.Related{Number: atoi(found[1])})
			}
		}
	})
	r.DependsOn, r.Related = distinct(r.DependsOn, maxNeeded), distinct(r.Related, maxRelated)
	r.Related = slices.DeleteFunc(r.Related, func(o forge.Related) bool { return o.Number == r.Number })
	r.Attachments = attachments(nil, r.Body)
}

// tasksIn returns the issues on a text's list of tasks, and whether another task on it is not ticked.
func tasksIn(text string) (numbers []int, open bool) {
	parts(text, func(block string, code bool) {
		for line := range strings.Lines(block) {
			if found := task.Regexp().FindStringSubmatch(line); found != nil && !code {
				numbers = append(numbers, atoi(found[1]))
			} else if todo.Regexp().MatchString(line) && !code {
				open = true
			}
		}
	})
	if tasks := distinct(numbers, maxTasks+1); len(tasks) <= maxTasks {
		return tasks, open
	}
	return nil, true
}

// distinct returns the first of equal values, at most limit.
func distinct[T comparable](all []T, limit int) (kept []T) {
	for _, one := range all {
		if len(kept) < limit && !slices.Contains(kept, one) {
			kept = append(kept, one)
		}
	}
	return kept
}

// issuesIn returns the numbers in a list such as "#41, #42 and #43": it ends at the first word that is something else, such as other/project#7.
func issuesIn(list string) (numbers []string) {
	for _, word := range strings.FieldsFunc(list, func(r rune) bool {
		return r == ',' || r == ' ' || r == '\t' || r == '\r' || r == '\n' || r == ';' || r == '&'
	}) {
		if strings.EqualFold(word, "and") {
			continue
		}
		found := ownIssue.Regexp().FindStringSubmatch(strings.Trim(word, ".*_"))
		if found == nil {
			break
		}
		numbers = append(numbers, found[1])
	}
	return numbers
}

func atoi(digits string) int {
	n, _ := strconv.Atoi(digits) // the pattern has at most nine digits
	return n
}

// attachments adds what a text links to, once each: images, and files that were uploaded to the forge.
func attachments(known []forge.Attachment, text string) []forge.Attachment {
	add := func(name, address string, image bool) {
		a := forge.Attachment{Name: redact.Line(name, maxTitle), Address: redact.Line(address, maxAddress), Image: image}
		web := strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "/")
		if web && len(known) < maxAttachments && !slices.ContainsFunc(known, func(k forge.Attachment) bool { return k.Address == a.Address }) {
			known = append(known, a)
		}
	}
	for _, found := range image.Regexp().FindAllStringSubmatch(text, maxAttachments) {
		add(found[1], found[2], true)
	}
	for _, found := range imageTag.Regexp().FindAllStringSubmatch(text, maxAttachments) {
		add("", found[1], true)
	}
	for _, found := range linked.Regexp().FindAllStringSubmatch(text, -1) {
		if uploaded.Regexp().MatchString(found[2]) {
			add(found[1], found[2], false)
		}
	}
	for _, found := range naked.Regexp().FindAllString(text, -1) {
		found = strings.TrimRight(found, ".,;:!*_")
		if uploaded.Regexp().MatchString(found) {
			add("", found, false)
		}
	}
	return known
}
