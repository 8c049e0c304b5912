package environment

import (
	"strings"

	"signalbox/internal/lazy"
)

// Setup commands share one shell, so that an environment that one of them activates applies to the next
// command, to the tests and to the agent. The shell is not a process, which would die with ours, but its
// saved state: after each successful line its exported variables, functions and folder are written below
// HOME, and the next line starts from them. So a setup continues after a crash as if nothing had happened,
// and a cached environment keeps its activation.

// stateDir is where the state is, as the scripts see it.
const stateDir = `"$HOME/.signalbox-shell"`

// preferBash runs the script $1 with the remaining arguments in bash, which can save functions (conda is
// one) for the next line, or in sh if there is no bash.
const preferBash = `script=$1; shift
if command -v bash >/dev/null 2>&1; then exec bash -c "$script" signalbox "$@"; fi
exec sh -c "$script" signalbox "$@"`

// lineScript runs the line $1 in the state that the earlier lines left. It saves no settings of a single
// command or run, and no variable that still has the value it was passed: a saved one would outlive the user's
// agreement to pass it, and hide its next value. A value that the line itself set is saved. The two renames at the end make a new state visible: a kill before them leaves the old
// one, and the line runs again.
//
// pip prints the same for a failing index as for an unknown name; only its log tells them apart, so if pip
// found no version, the log decides. pip also retries less often than by default, because Signalbox itself
// waits and retries. A value set by the user or the line wins in both cases.
//
// All names begin with signalbox_, because a line may set any other.
const lineScript = `signalbox_dir=` + stateDir + `
signalbox_piplog=$signalbox_dir/pip.log
unheard() {
	if [ "$1" != 0 ] && grep -q "(from versions: none)" "$signalbox_piplog"; then
		sed -n '/(from versions: none)/q; s/.*\(Could not fetch URL .*\)/pip: \1/p' "$signalbox_piplog" | tail -n 5 >&2
	fi
	rm -f "$signalbox_piplog"
}
if [ -e "$signalbox_piplog" ]; then rm -f "$signalbox_piplog"; fi
signalbox_passed=$(env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p')
for signalbox_name in $signalbox_passed; do eval "signalbox_passed_$signalbox_name=\${$signalbox_name-}"; done
if [ -r "$signalbox_dir/variables" ]; then . "$signalbox_dir/variables"; cd -- "$(cat "$signalbox_dir/folder")" 2>/dev/null || :; fi
save() {
	mkdir -p "$signalbox_dir" && pwd >"$signalbox_dir/folder.new" && (
		for signalbox_name in $(env | sed -n 's/^\(SIGNALBOX_[A-Z0-9_]*\)=.*/\1/p'); do unset "$signalbox_name"; done
		if [ "${PIP_LOG-}" = "$signalbox_piplog" ]; then unset PIP_LOG; fi
		if [ "${PIP_RETRIES-}" = 1 ]; then unset PIP_RETRIES; fi
		unset PWD OLDPWD SHLVL HOME TMPDIR HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
		for signalbox_name in $signalbox_passed; do
			if eval "[ \"\${$signalbox_name-}\" = \"\$signalbox_passed_$signalbox_name\" ]"; then unset "$signalbox_name"; fi
		done
		export -p
		if [ -n "${BASH_VERSION-}" ]; then unset -f save unheard; declare -f; fi
	) >"$signalbox_dir/variables.new" && mv "$signalbox_dir/variables.new" "$signalbox_dir/variables" && mv "$signalbox_dir/folder.new" "$signalbox_dir/folder"
}
trap 'status=$?; trap - EXIT; if [ "$status" = 0 ]; then save || status=$?; fi; if [ -e "$signalbox_piplog" ]; then unheard "$status"; fi; exit "$status"' EXIT
export PIP_LOG="${PIP_LOG-$signalbox_piplog}" PIP_RETRIES="${PIP_RETRIES-1}"
mkdir -p "$signalbox_dir" 2>/dev/null
eval "$1"`

// activatedScript starts the program $2 with the setup's activation, in the folder it was given. The program's own
// variables, whose names are $1, keep their values. A missing program is exit code 127 without output, as agents
// expect.
const activatedScript = `signalbox_dir=` + stateDir + `
signalbox_own=$1; shift
for signalbox_name in $signalbox_own; do eval "signalbox_own_$signalbox_name=\${$signalbox_name-}"; done
if [ -r "$signalbox_dir/variables" ]; then . "$signalbox_dir/variables"; fi
for signalbox_name in $signalbox_own; do eval "export $signalbox_name=\"\$signalbox_own_$signalbox_name\""; done
command -v -- "$1" >/dev/null 2>&1 || exit 127
exec "$@"`

// verifyScript runs the line $1 as lineScript does, in the folder that the lines left, and saves no state.
const verifyScript = `signalbox_dir=` + stateDir + `
if [ -r "$signalbox_dir/variables" ]; then . "$signalbox_dir/variables"; cd -- "$(cat "$signalbox_dir/folder")" 2>/dev/null || :; fi
eval "$1"`

// VerifyLine returns the program that runs one verification after a setup.
func VerifyLine(line string) []string {
	return []string{"sh", "-c", preferBash, "signalbox", verifyScript, line}
}

// SetUpLine returns the program that runs one line of a setup in the setup's shell. A line may hold several
// commands; they succeed or fail together.
func SetUpLine(line string) []string {
	return []string{"sh", "-c", preferBash, "signalbox", lineScript, line}
}

var variableName = lazy.Pattern(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Activated returns the program that starts args with the setup's activation. Without a setup it starts
// them as they are. The setup changes none of the program's own variables (KEY=value) but PATH.
func Activated(args, variables []string) []string {
	var own []string
	for _, variable := range variables {
		if name, _, _ := strings.Cut(variable, "="); name != "PATH" && variableName().MatchString(name) {
			own = append(own, name)
		}
	}
	return append([]string{"sh", "-c", preferBash, "signalbox", activatedScript, strings.Join(own, " ")}, args...)
}
