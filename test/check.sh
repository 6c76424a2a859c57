#!/usr/bin/env bash
# Checks a change in about two minutes, without a server: lints, and runs what tests need none. A
# test that lacks its server is skipped. test/run.sh runs everything.
set -euo pipefail
cd "$(dirname "$0")/.."

./test/lint.sh

unset "${!PATHLOCK_TEST_@}" CI
# The others start servers by themselves, or wait for most of their time.
others='/(store/(quorum|zkstore|etcdstore|anystore)|internal/test(zk|redis|etcd)|integration|cmd/pathlock/internal/(cli|doctor)|sample-app/internal/(cli|httpapi))(/|$)'
packages=()
while read -r package; do
	[[ $package =~ $others ]] || packages+=("$package")
done < <(go list -m -f '{{.Path}}/...' | xargs go list)
echo "== test, without servers"
go test -vet=off -p 4 "$@" "${packages[@]}"
