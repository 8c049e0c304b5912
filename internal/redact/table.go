package redact

import "strings"

// named is a secret by the name of its variable.
type named struct{ name, value string }

// form is one way in which a value is written.
type form struct {
	text string
	of   named
}

// table is what a Redactor looks for. It never changes.
type table struct {
	named []named
	// forms are the values in all their forms, by their first byte.
	forms [256][]form
	// patterns are the well-known kinds, by the first byte of their prefix.
	patterns [256][]*pattern
	// pairs tells by the first two bytes where a secret may start; most text starts none.
	pairs [256][256]bool
}

func newTable(secrets []named) *table {
	t := &table{named: secrets}
	for i := range patterns {
		t.addPattern(&patterns[i])
	}
	known := map[string]bool{}
	for _, secret := range secrets {
		for _, text := range forms(secret.value) {
			if !known[text] {
				known[text] = true
				t.forms[text[0]] = append(t.forms[text[0]], form{text, secret})
				t.mayStart(text)
			}
		}
	}
	return t
}

func (t *table) addPattern(p *pattern) {
	t.patterns[p.prefix[0]] = append(t.patterns[p.prefix[0]], p)
	t.mayStart(p.prefix)
	if first := upper(p.prefix[0]); p.fold && first != p.prefix[0] {
		t.patterns[first] = append(t.patterns[first], p)
		t.mayStart(p.prefix[:1] + strings.ToUpper(p.prefix[1:]))
		t.mayStart(strings.ToUpper(p.prefix[:1]) + p.prefix[1:])
		t.mayStart(strings.ToUpper(p.prefix))
	}
}

func (t *table) mayStart(prefix string) { t.pairs[prefix[0]][prefix[1]] = true }
