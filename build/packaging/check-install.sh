#!/bin/sh
# Installs a build tree below a temporary directory, enables both modules there with a2enmod in a copy of /etc/apache2,
# and has httpd check the configuration. Nothing outside of that directory changes.
#
# usage: check-install.sh BUILD_DIRECTORY
set -eu

build=$1
apache=/etc/apache2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT
trap 'exit 143' TERM
PATH=$PATH:/usr/sbin:/sbin

fail() {
    echo "check-install: $*" >&2
    exit 1
}

run() {
    "$@" >"$work/output" 2>&1 || {
        cat "$work/output" >&2
        fail "$* failed"
    }
}

mkdir "$work/root" "$work/run" "$work/state"
run env DESTDIR="$work/root" cmake --install "$build"
for file in $apache/mods-available/crccache_client.load $apache/mods-available/crccache_client.conf \
    $apache/mods-available/crccache_server.load $apache/mods-available/crccache_server.conf; do
    [ -f "$work/root$file" ] || fail "$file is not installed"
done
for file in bin/crcsync man/man1/crcsync.1; do
    [ -n "$(find "$work/root" -path "*/$file" -type f)" ] || fail "$file is not installed"
done

# A second installation keeps what an administrator has set.
echo '# set by hand' >>"$work/root$apache/mods-available/crccache_server.conf"
run env DESTDIR="$work/root" cmake --install "$build"
grep -q '^# set by hand$' "$work/root$apache/mods-available/crccache_server.conf" ||
    fail "a changed .conf was overwritten"

# The machine's httpd configuration, as it is now, with our files added and its modules where they were just put.
cp -a $apache "$work/apache2"
rm -f "$work"/apache2/mods-enabled/crccache_* "$work"/apache2/mods-enabled/cache*
cp "$work/root$apache"/mods-available/crccache_* "$work/apache2/mods-available/"
sed -i "s|^LoadModule \(crccache_[a-z]*_module\) |&$work/root|" "$work"/apache2/mods-available/crccache_*.load

# envvars of the copy name the system's run and log directories.
cat >>"$work/apache2/envvars" <<END
export APACHE_PID_FILE=$work/run/apache2.pid APACHE_RUN_DIR=$work/run APACHE_LOCK_DIR=$work/run APACHE_LOG_DIR=$work/run
END
# With cache_disk, a2enmod enables a service of the machine, htcacheclean. Not here.
mkdir "$work/bin"
for tool in systemctl update-rc.d; do
    printf '#!/bin/sh\necho "not run: %s $*"\n' $tool >"$work/bin/$tool"
    chmod +x "$work/bin/$tool"
done
PATH=$work/bin:$PATH
export APACHE_CONFDIR="$work/apache2" APACHE_STATE_DIRECTORY="$work/state"
run a2enmod crccache_server
run a2enmod crccache_client
# Also the settings that the .conf files only show must be right.
sed -i 's/^#\(CRCSync\|CacheMaxFileSize\|<\|    \)/\1/' "$work"/apache2/mods-available/crccache_*.conf
run apache2ctl configtest
apache2ctl -M >"$work/output" 2>&1
for module in crccache_client_module crccache_server_module cache_disk_module; do
    grep -q " $module " "$work/output" || fail "$module is not loaded"
done
echo "ok: installed, enabled, and the configuration is right"
