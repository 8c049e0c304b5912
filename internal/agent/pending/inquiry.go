package pending

import "signalbox/internal/agent"

// Inquiry is one question with which a model turns to a person, as more than one program words it.
type Inquiry struct {
	Question string `json:"question"`
	Options  []struct {
		Label       string `json:"label"`
		Description string `json:"description"`
	} `json:"options"`
}

// Ask returns the inquiry as it is put to a person.
func (i Inquiry) Ask(tool string) agent.Question {
	asked := agent.Question{Kind: agent.Words, Tool: tool, Text: i.Question}
	for _, option := range i.Options {
		asked.Kind = agent.Choice
		if option.Description != "" {
			option.Label += ": " + option.Description
		}
		asked.Options = append(asked.Options, option.Label)
	}
	return asked
}

// Reply returns what a person said, in the model's own words where it is one of the options.
func (i Inquiry) Reply(a agent.Answer) string {
	if a.Verdict == agent.Chosen && a.Option >= 0 && a.Option < len(i.Options) {
		return i.Options[a.Option].Label
	}
	return a.Text
}
