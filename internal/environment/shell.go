package environment

// Set-up commands share one shell, so that what one of them activates holds for
// the next, for the tests and for the agent. The shell is not a process, which
// would die with us, but what is left of one: after a line that succeeded its
// exported variables, functions and folder are written below HOME, and the next
// line begins with them. So a set-up goes on after a crash as if nothing had
// been, and a kept environment brings its activation along.

// stateDir is where it is kept, as the scripts see it.
const stateDir = `"$HOME/.signalbox-shell"`

// preferBash runs the script $1 with the further arguments in bash, whose functions
// (conda is one) outlive a line, and in sh where there is no bash.
const preferBash = `script=$1; shift
if command -v bash >/dev/null 2>&1; then exec bash -c "$script" signalbox "$@"; fi
exec sh -c "$script" signalbox "$@"`

// lineScript runs the line $1 in the shell that the lines before it left. What
// belongs to a single command or run is not passed on.
//
// pip says of an index that is in trouble what it says of a name that does not exist; the answer
// stands in its log alone, so where it found no version the log has the last word. It tries again
// less often than by itself, because a failure is waited for from outside. What the person or the
// line says of either counts.
const lineScript = `dir=` + stateDir + `
piplog=$dir/pip.log
unheard() {
	if [ "$1" != 0 ] && grep -q "(from versions: none)" "$piplog"; then
		sed -n '/(from versions: none)/q; s/.*\(Could not fetch URL .*\)/pip: \1/p' "$piplog" | tail -n 5 >&2
	fi
	rm -f "$piplog"
}
if [ -e "$piplog" ]; then rm -f "$piplog"; fi
if [ -r "$dir/variables" ]; then . "$dir/variables"; cd -- "$(cat "$dir/folder")" 2>/dev/null || :; fi
save() {
	mkdir -p "$dir" && pwd >"$dir/folder.new" && (
		for name in $(env | sed -n 's/^\(SIGNALBOX_[A-Z0-9_]*\)=.*/\1/p'); do unset "$name"; done
		if [ "${PIP_LOG-}" = "$piplog" ]; then unset PIP_LOG; fi
		if [ "${PIP_RETRIES-}" = 1 ]; then unset PIP_RETRIES; fi
		unset PWD OLDPWD SHLVL HOME TMPDIR HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy
		export -p
		if [ -n "${BASH_VERSION-}" ]; then unset -f save unheard; declare -f; fi
	) >"$dir/variables.new" && mv "$dir/variables.new" "$dir/variables" && mv "$dir/folder.new" "$dir/folder"
}
trap 'status=$?; trap - EXIT; if [ "$status" = 0 ]; then save || status=$?; fi; if [ -e "$piplog" ]; then unheard "$status"; fi; exit "$status"' EXIT
export PIP_LOG="${PIP_LOG-$piplog}" PIP_RETRIES="${PIP_RETRIES-1}"
mkdir -p "$dir" 2>/dev/null
eval "$1"`

// activatedScript starts the program $1 with what the set-up activated, in the folder it was
// given. One that is not there is exit code 127 without a word, as agents expect it.
const activatedScript = `dir=` + stateDir + `
if [ -r "$dir/variables" ]; then . "$dir/variables"; fi
command -v -- "$1" >/dev/null 2>&1 || exit 127
exec "$@"`

// verifyScript runs the line $1 as lineScript does, in the folder that the lines left, and leaves nothing itself.
const verifyScript = `dir=` + stateDir + `
if [ -r "$dir/variables" ]; then . "$dir/variables"; cd -- "$(cat "$dir/folder")" 2>/dev/null || :; fi
eval "$1"`

// VerifyLine is the program that runs one verification after a set-up.
func VerifyLine(line string) []string {
	return []string{"sh", "-c", preferBash, "signalbox", verifyScript, line}
}

// SetUpLine is the program that runs one line of a set-up in the set-up's shell.
func SetUpLine(line string) []string {
	return []string{"sh", "-c", preferBash, "signalbox", lineScript, line}
}

// Activated is the program args, started with what the set-up's lines activated.
func Activated(args []string) []string {
	return append([]string{"sh", "-c", preferBash, "signalbox", activatedScript}, args...)
}
