# shellcheck shell=sh
# The status of issues for shell scripts: source this file. Every function is
# one call of the program that $SIGNALBOX names, or signalbox.

# save_status ISSUE STATUS [SESSION [MESSAGE]]
save_status() {
    "${SIGNALBOX:-signalbox}" issue set --session "${3:-}" -- "${1:-}" "${2:-}" "${4:-}"
}

# set_status ISSUE STATUS [MESSAGE]: the session's name is made up.
set_status() {
    "${SIGNALBOX:-signalbox}" issue set -- "${1:-}" "${2:-}" "${3:-}"
}

# get_status ISSUE: running, complete, error or unknown
get_status() {
    "${SIGNALBOX:-signalbox}" issue get -- "${1:-}"
}

# load_status ISSUE: the JSON document; nothing where there is none
load_status() {
    if [ "$(get_status "${1:-}")" != unknown ]; then
        "${SIGNALBOX:-signalbox}" issue show --json -- "${1:-}"
    fi
}

# get_error_message ISSUE
get_error_message() {
    "${SIGNALBOX:-signalbox}" issue error -- "${1:-}"
}

# list_all_statuses: one line "ISSUE<TAB>STATUS" each
list_all_statuses() {
    "${SIGNALBOX:-signalbox}" issue list
}

# list_issues_by_status STATUS: one number each
list_issues_by_status() {
    "${SIGNALBOX:-signalbox}" issue list --status "${1:-}"
}

# remove_status ISSUE
remove_status() {
    "${SIGNALBOX:-signalbox}" issue remove -- "${1:-}"
}

# find_orphaned_statuses: the numbers of issues without a folder in .worktrees
find_orphaned_statuses() {
    "${SIGNALBOX:-signalbox}" issue orphans
}
