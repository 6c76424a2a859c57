#!/usr/bin/env bash
# Prints the folder of an Oracle MySQL for Debian, which runs from there without being installed.
# The first call fetches it. Debian's stable releases have only MariaDB, so it takes
# mysql-server-core from the unstable release, and unpacks it with all that it depends on, libc
# included, into a cache folder. It changes nothing in the system, and does not need root.
#
#   test/mysql.sh LOG
#
# The cache is ${XDG_CACHE_HOME:-~/.cache}/pathlock. Remove it to fetch a newer MySQL. The mirror is
# the system's own.
set -euo pipefail
log=${1:-/dev/stderr}

for program in apt-get dpkg dpkg-deb; do
	command -v "$program" >/dev/null || { echo "   a MySQL can be fetched on Debian only: there is no $program" >&2; exit 1; }
done
cache="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/pathlock"
architecture=$(dpkg --print-architecture)

# A folder gets this name last, so a folder that has it is complete.
cached() { find "$cache" -maxdepth 1 -type d -name "mysql-*-$architecture" 2>/dev/null | sort -V | tail -n 1; }

if [ -z "$(cached)" ]; then
	echo "== fetching mysql-server-core of Debian's unstable release" >&2
	mkdir -p "$cache"
	# A killed run leaves such a folder. No run takes a day.
	find "$cache" -maxdepth 1 -name 'fetching.*' -mtime +0 -exec rm -rf {} +
	work=$(mktemp -d "$cache/fetching.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	mkdir -p "$work"/state/lists/partial "$work"/debs/archives/partial "$work/root"
	: >"$work/status" # says that nothing is installed, so that apt fetches all dependencies

	# Keep the system's proxies and passwords, but not its pins and releases.
	apt=(apt-get -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
		-o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null -o APT::Default-Release=
		-o "Dir::State=$work/state" -o "Dir::State::status=$work/status" -o "Dir::Cache=$work/debs"
		-o "APT::Sandbox::User=$(id -un)" -o Acquire::Retries=3)
	fetch() {
		"${apt[@]}" update && "${apt[@]}" -y -d install --no-install-recommends mysql-server-core mysql-client-core
	}
	fetched=""
	while read -r source; do
		echo "$source sid main" >"$work/sources.list"
		if fetch >>"$log" 2>&1; then
			fetched=yes
			break
		fi
	done < <("$(dirname "$0")/mirrors.sh")
	[ -n "$fetched" ] || { echo "   none of the system's mirrors has mysql-server-core of Debian's unstable release" >&2; exit 1; }

	for deb in "$work"/debs/archives/*.deb; do
		dpkg-deb -x "$deb" "$work/root"
	done
	server=$(find "$work/debs/archives" -name 'mysql-server-core*_*.deb' | sort | tail -n 1)
	version=$(dpkg-deb -f "$server" Version | tr -c 'A-Za-z0-9.\n' '-')
	# Another run may have been faster.
	mv -T "$work/root" "$cache/mysql-$version-$architecture" 2>>"$log" || [ -n "$(cached)" ]
fi
cached
