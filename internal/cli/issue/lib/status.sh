# shellcheck shell=sh
# The status of issues for shell scripts: source this file. What reads or writes a record is a call of the
# program that $SIGNALBOX names, or signalbox.

# save_status ISSUE STATUS [SESSION [MESSAGE]]
save_status() {
    "${SIGNALBOX:-signalbox}" issue set --session "${3:-}" -- "${1:-}" "${2:-}" "${4:-}"
}

# set_status ISSUE STATUS [MESSAGE]: the session's name is made up, with $SIGNALBOX_SESSION_PREFIX or signalbox first.
set_status() {
    "${SIGNALBOX:-signalbox}" issue set --session "${SIGNALBOX_SESSION_PREFIX:-signalbox}-issue-${1:-}" -- "${1:-}" "${2:-}" "${3:-}"
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

# get_status_value ISSUE: the same as get_status
get_status_value() {
    get_status "${1:-}"
}

# get_status_dir: the folder of the records. They are written through the functions here, never by hand.
get_status_dir() {
    signalbox_root=$(git rev-parse --show-toplevel 2>/dev/null) || signalbox_root=$(pwd -P)
    printf '%s\n' "$signalbox_root/.worktrees/.status"
}

# init_status_dir makes it.
init_status_dir() {
    mkdir -p -- "$(get_status_dir)"
}

# json_escape TEXT: the inside of a JSON string
json_escape() {
    printf '%s\n' "${1:-}" | LC_ALL=C awk '
        BEGIN {
            for (i = 1; i < 32; i++) code[sprintf("%c", i)] = sprintf("\\u%04x", i)
            code["\t"] = "\\t"; code["\r"] = "\\r"; code["\b"] = "\\b"; code["\f"] = "\\f"
            code["\""] = "\\\""; code["\\"] = "\\\\"
        }
        {
            if (NR > 1) printf "\\n"
            for (i = 1; i <= length($0); i++) { c = substr($0, i, 1); printf "%s", c in code ? code[c] : c }
        }
        END { print "" }'
}

# build_json_fallback ISSUE STATUS SESSION TIMESTAMP [MESSAGE [LABEL]]: a record, without jq
build_json_fallback() {
    printf '{\n  "issue": %d,\n  "status": "%s",\n  "session": "%s",\n' "${1:-0}" "$(json_escape "${2:-}")" "$(json_escape "${3:-}")"
    if [ -n "${5:-}" ]; then
        printf '  "error_message": "%s",\n' "$(json_escape "$5")"
    fi
    if [ -n "${6:-}" ]; then
        printf '  "session_label": "%s",\n' "$(json_escape "$6")"
    fi
    printf '  "timestamp": "%s"\n}\n' "$(json_escape "${4:-}")"
}

# build_json_with_jq ISSUE STATUS SESSION TIMESTAMP [MESSAGE [LABEL]]: the same, by jq
build_json_with_jq() {
    jq -n --argjson n "${1:-0}" --arg s "${2:-}" --arg by "${3:-}" --arg at "${4:-}" --arg why "${5:-}" --arg tag "${6:-}" \
        '{issue: $n, status: $s, session: $by} + (if $why == "" then {} else {error_message: $why} end)
            + (if $tag == "" then {} else {session_label: $tag} end) + {timestamp: $at}'
}

# build_status_json: the same, by jq if it is installed
build_status_json() {
    if command -v jq >/dev/null; then
        build_json_with_jq "$@"
    else
        build_json_fallback "$@"
    fi
}

# count_orphaned_statuses: how many find_orphaned_statuses finds
count_orphaned_statuses() {
    find_orphaned_statuses | awk 'END { print NR }'
}

# find_old_statuses [DAYS]: the numbers of issues whose record was last written more than DAYS (7) days ago
find_old_statuses() {
    signalbox_records -mtime "+${1:-7}"
}

# find_stale_statuses [DAYS]: those that find_orphaned_statuses finds; with DAYS, if they are as old as that, too
find_stale_statuses() {
    if [ -z "${1:-}" ]; then
        find_orphaned_statuses
        return
    fi
    signalbox_old=$(find_old_statuses "$1")
    for signalbox_issue in $(find_orphaned_statuses); do
        if printf '%s\n' "$signalbox_old" | grep -qx -- "$signalbox_issue"; then
            echo "$signalbox_issue"
        fi
    done
}

# signalbox_records TEST...: the numbers of issues whose record passes a test of find
signalbox_records() {
    [ -d "$(get_status_dir)" ] || return 0
    find "$(get_status_dir)" -maxdepth 1 -type f -name '[0-9]*.json' "$@" | sed 's|.*/||; s|\.json$||' | sort -n
}

# signalbox_file ISSUE NAME: where something about an issue is kept; an ISSUE that is no number is refused
signalbox_file() {
    case ${1:-} in
    '' | *[!0-9]*) echo "issue \"${1:-}\" is not a number" >&2; return 1 ;;
    esac
    printf '%s\n' "$(get_status_dir)/$1.$2"
}

# save_watcher_pid ISSUE PID, load_watcher_pid ISSUE, remove_watcher_pid ISSUE: which process watches an issue
save_watcher_pid() {
    signalbox_at=$(signalbox_file "${1:-}" watcher.pid) && init_status_dir || return 1
    signalbox_new=$(mktemp "$signalbox_at.tmp.XXXXXX") && printf '%s\n' "${2:-}" >"$signalbox_new" && mv -f -- "$signalbox_new" "$signalbox_at"
}

load_watcher_pid() {
    signalbox_at=$(signalbox_file "${1:-}" watcher.pid) && { cat -- "$signalbox_at" 2>/dev/null || true; }
}

remove_watcher_pid() {
    signalbox_at=$(signalbox_file "${1:-}" watcher.pid) && rm -f -- "$signalbox_at"
}

# is_watcher_running ISSUE
is_watcher_running() {
    signalbox_pid=$(load_watcher_pid "${1:-}") && [ -n "$signalbox_pid" ] && kill -0 "$signalbox_pid" 2>/dev/null
}

# acquire_cleanup_lock ISSUE [PID], release_cleanup_lock ISSUE [PID], is_cleanup_locked ISSUE: one process cleans up after an
# issue at a time. The lock is a folder with the process's id. That of a process that is gone is taken over, and that of
# another one that lives is not released.
acquire_cleanup_lock() {
    signalbox_at=$(signalbox_file "${1:-}" cleanup.lock) && init_status_dir || return 1
    (
        flock 9 && ! is_cleanup_locked "$1" && mkdir -p -- "$signalbox_at" && printf '%s\n' "${2:-$$}" >"$signalbox_at/pid"
    ) 9<"$(get_status_dir)"
}

release_cleanup_lock() {
    signalbox_at=$(signalbox_file "${1:-}" cleanup.lock) && [ -d "$signalbox_at" ] || return 0
    (
        flock 9 || exit 1
        if ! is_cleanup_locked "$1" || [ "$signalbox_pid" = "${2:-$$}" ]; then
            rm -rf -- "$signalbox_at"
        else
            echo "the cleanup of issue $1 is locked by process $signalbox_pid" >&2
        fi
    ) 9<"$(get_status_dir)"
}

is_cleanup_locked() {
    signalbox_at=$(signalbox_file "${1:-}" cleanup.lock) && signalbox_pid=$(cat -- "$signalbox_at/pid" 2>/dev/null) &&
        [ -n "$signalbox_pid" ] && kill -0 "$signalbox_pid" 2>/dev/null
}
