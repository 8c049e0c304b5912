package workflow

func ShortID(id string) string { return id[:min(10, len(id))] }

func JoinWords(words []string) string {
	text := words[0]
	for i, w := range words[1:] {
		if i == len(words)-2 {
			return text + " and " + w
		}
		text += ", " + w
	}
	return text
}
