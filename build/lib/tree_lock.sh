# shellcheck shell=bash
# One script at a time builds and tests in a tree: two would change each other's programs while these run.

# Takes the lock of the tree that is the current directory, for the script $1 and all that it starts. Where another run
# has it, the script ends with status 75 and says which.
lock_tree() {
    local holder pid state=""
    mkdir -p _out
    exec {tree_lock}>>_out/lock
    if ! flock -n "$tree_lock"; then
        holder=$(cat _out/lock)
        pid=$(sed -n 's/.*process \([0-9]*\).*/\1/p' _out/lock)
        if [ -n "$pid" ] && ! [ -e "/proc/$pid" ]; then
            state=", which has ended, but has left a process that still runs"
        fi
        echo "$1: this tree ($PWD) is in use by ${holder:-another run}$state" >&2
        exit 75
    fi
    echo "$1, process $$, since $(date '+%F %T')" >_out/lock
}
