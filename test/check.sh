#!/usr/bin/env bash
# Checks a change without a server: lints, and runs the tests that need none. SQLite needs none, so
# the suite of the GORM plugin is among them. A test that lacks its server is skipped. test/run.sh
# runs everything.
#
# Arguments go to `go test`.
set -euo pipefail
cd "$(dirname "$0")/.."
. test/flags.sh

./test/lint.sh -built

unset "${!PATHLOCK_TEST_@}" CI
# The others test servers, or programs and pages that they start.
others='/(bench|store/(quorum|redisstore|zkstore|etcdstore)|cmd/pathlock/(command|internal/doctor)|proof/histories|integration/.*|sample-app(/internal/(httpapi|storm))?)$'
packages=(./integration ./integration/fsck) # take longest
while read -r package; do
	[[ $package =~ $others ]] || packages+=("$package")
done < <(go list -m -f '{{.Path}}/...' | xargs go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' | grep .)
echo "== test, without servers"
go test -p 4 "$@" "${packages[@]}"
