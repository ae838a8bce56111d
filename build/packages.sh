# The Debian packages that this project needs, in one list. Source it, then:
#
#   install_packages GROUP...     groups: build, test, demo, fuzz, coverage
#
# Nothing is asked of the network when all are installed. Installing needs root.

packages_build="g++ cmake ninja-build pkg-config apache2-dev zlib1g-dev libssl-dev libbenchmark-dev"
# nghttp2-client and apache2-utils put load on servers (h2load, ab), valgrind counts instructions.
packages_test="apache2 libapache2-mod-perl2 perl media-types check curl openssl nghttp2-client apache2-utils valgrind
    clang-format-14 clang-tidy-14"
packages_demo="apache2 perl media-types curl openssl"
# libFuzzer is part of clang's run-time library.
packages_fuzz="clang-14 libclang-rt-14-dev"
# llvm-cov reads what clang's instrumentation counts.
packages_coverage="clang-14 libclang-rt-14-dev llvm-14"

# Prints those of the given packages that are not installed.
missing_packages() {
    local package
    for package in "$@"; do
        case "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" in
        installed) ;;
        *) echo "$package" ;;
        esac
    done
}

install_packages() {
    local group names="" missing rule=/usr/sbin/policy-rc.d made_rule=""
    for group in "$@"; do
        case "$group" in
        build) names="$names $packages_build" ;;
        test) names="$names $packages_test" ;;
        demo) names="$names $packages_demo" ;;
        fuzz) names="$names $packages_fuzz" ;;
        coverage) names="$names $packages_coverage" ;;
        *)
            echo "packages.sh: no group $group" >&2
            return 2
            ;;
        esac
    done
    # shellcheck disable=SC2086
    missing=$(missing_packages $names | sort -u | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        echo "These packages are missing, and installing them needs root: $missing" >&2
        return 1
    fi
    echo "Installing: $missing"
    # Debian starts a web server on port 80 as soon as apache2 is installed: not wanted here.
    if [ ! -e "$rule" ]; then
        printf '#!/bin/sh\nexit 101\n' >"$rule" && chmod 755 "$rule" && made_rule=yes
    fi
    # shellcheck disable=SC2086
    {
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -q && apt-get install -q -y --no-install-recommends $missing
    } </dev/null
    local status=$?
    [ -z "$made_rule" ] || rm -f "$rule"
    return $status
}
