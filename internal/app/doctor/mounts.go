package doctor

import (
	"fmt"
	"os"
	"strings"

	"signalbox/internal/commandline"
)

// lookAtMounts names the environments' folders that are mounted: as long as they are, the project's
// folder cannot be deleted.
func (p *examination) lookAtMounts(add func(Finding)) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return // a system without mounts of its own to tell of
	}
	if there := mountedBelow(string(table), p.Root); len(there) > 0 {
		add(Finding{"mounts", VerdictOK, fmt.Sprintf("%s mounted here: %s", commandline.Count(len(there), "folder"), strings.Join(there, ", ")),
			"before you delete the project's folder: signalbox env remove --all"})
	}
}

// mountedBelow are our mounts below a folder, in the words of mountinfo, relative to it.
func mountedBelow(table, dir string) (found []string) {
	plain := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(table) {
		before, after, _ := strings.Cut(line, " - ")
		place, kind := strings.Fields(before), strings.Fields(after)
		if len(place) < 5 || len(kind) < 2 || kind[0] != "overlay" || kind[1] != "signalbox" {
			continue
		}
		if below, ok := strings.CutPrefix(plain.Replace(place[4]), dir+"/"); ok {
			found = append(found, below)
		}
	}
	return found
}
