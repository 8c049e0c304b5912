package pi

import "slices"

// atTerminal returns the arguments for its own interface. A prompt that begins with a dash or an at sign
// would be an option or a file; a space before it changes nothing.
func (a *Agent) atTerminal(prompt string) []string {
	args := slices.Clone(tools[a.settings.Permissions])
	if a.settings.Model != "" {
		args = append(args, "--model", a.settings.Model)
	}
	return append(slices.Concat(args, a.settings.Args), " "+prompt)
}
