package redact

// named is a secret by the name of its variable.
type named struct{ name, value string }

// form is one way in which a value is written.
type form struct {
	text string
	of   named
	// cut: it is also looked for where a limit left only a part of it.
	cut bool
}

// table is what a Redactor looks for. It never changes.
type table struct {
	named []named
	// forms are the values in all their forms, by their first byte.
	forms [256][]form
	// rests are the ends of forms that a limit may have left, by their first byte.
	rests [256][]rest
	// patterns are the well-known kinds, by the first byte of their prefix.
	patterns [256][]*pattern
	// starts tells by the first bytes where a secret may start; most text starts none.
	starts starts
}

func newTable(secrets []named) *table {
	t := &table{named: secrets}
	for i := range patterns {
		p := &patterns[i]
		t.patterns[p.prefix[0]] = append(t.patterns[p.prefix[0]], p)
		t.starts.add(p.prefix)
		if first := upper(p.prefix[0]); p.fold && first != p.prefix[0] {
			t.patterns[first] = append(t.patterns[first], p)
			t.starts.addFolded(p.prefix)
		}
	}
	known := map[string]bool{}
	for _, secret := range secrets {
		cut := cuttable(secret.value)
		for _, text := range forms(secret.value) {
			if known[text] {
				continue
			}
			known[text] = true
			t.forms[text[0]] = append(t.forms[text[0]], form{text, secret, cut[text]})
			t.starts.add(text)
			for from := 1; cut[text] && from <= len(text)-cutLength; from++ {
				t.rests[text[from]] = append(t.rests[text[from]], rest{text[from:], len(text)})
			}
		}
	}
	t.starts.add(ellipsis)
	return t
}
