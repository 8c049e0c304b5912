#!/bin/bash
# Finds or installs Signalbox, and gives its path as the output "program".
set -euo pipefail

refuse() {
	echo "::error title=No Signalbox::$1. Set SIGNALBOX in .github/workflows/signalbox-heal.yml to a program on the runner or in this repository, or to a Go package with its exact version, such as example.org/signalbox/cmd/signalbox@v1.2.3"
	exit 1
}

case $SIGNALBOX in
"")
	refuse "SIGNALBOX is empty"
	;;
*@*)
	[[ $SIGNALBOX =~ ^[A-Za-z0-9][A-Za-z0-9._~/-]*/([a-z]+)@v[0-9]+\.[0-9]+\.[0-9]+[A-Za-z0-9.+-]*$ ]] ||
		refuse "The Go package that SIGNALBOX names has no exact version"
	program=$RUNNER_TEMP/signalbox-bin/${BASH_REMATCH[1]}
	[ -x "$program" ] || GOBIN=$(dirname "$program") go install "$SIGNALBOX" || refuse "The Go package that SIGNALBOX names cannot be installed"
	;;
*/*)
	program=$(realpath --no-symlinks -- "$SIGNALBOX")
	;;
*)
	program=$(command -v -- "$SIGNALBOX") || refuse "The runner has no program of the name that SIGNALBOX gives"
	;;
esac
if [ ! -f "$program" ] || [ ! -x "$program" ]; then refuse "What SIGNALBOX names is no program"; fi
"$program" version
echo "program=$program" >>"$GITHUB_OUTPUT"
