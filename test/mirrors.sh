#!/usr/bin/env bash
# Prints the mirrors of the Debian archive that this system's own sources name, in any format. Each
# is the beginning of a line for a sources.list, "deb [signed-by=…] http://…", to which the caller
# adds the suite and the components.
set -euo pipefail

codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release | tr -d '"')
[ -n "$codename" ] || { echo "   /etc/os-release has no VERSION_CODENAME" >&2; exit 1; }
keys=$(find /usr/share/keyrings -name 'debian-archive-keyring.*' 2>/dev/null | sort | head -n 1)
# apt reads its sources and says what it would fetch, without the network and without root.
apt-get --print-uris update |
	sed -n "s#^'\(.*\)/dists/$codename/main/binary-[^/]*/.*#\1#p" | sort -u |
	while read -r mirror; do
		echo "deb ${keys:+[signed-by=$keys] }$mirror"
	done
