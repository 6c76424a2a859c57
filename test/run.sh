#!/usr/bin/env bash
# The test command. It lints, starts the servers that the tests need, runs every test of every module
# under -race but SQLite's whole suite without it, and stops what it started. Arguments go to
# `go test`.
#
# test/servers.sh says which servers these are and where they come from. Tests that lack their server
# are skipped and say so. With CI=true, they fail.
set -euo pipefail
cd "$(dirname "$0")/.."

. test/servers.sh

./test/lint.sh

# One command runs all modules, so that their packages share the cores. It runs three packages at a
# time, because they wait for servers for about a third of their time. The linter has vetted them.
packages=()
for module in $(go list -m -f '{{.Dir}}'); do
	packages+=("$module/...")
done
echo "== test"
status=0
go test -race -vet=off -p 3 -timeout 30m -count=1 "$@" "${packages[@]}" || status=$?

# SQLite is Go code in these tests. The race detector makes it more than ten times slower.
echo "== test, SQLite without the race detector"
go test -vet=off -timeout 30m -count=1 -run '^Test(SQLite(Deferred|Glebarez)?|Growth)$' "$@" ./integration ./cmd/pathlock/internal/database || status=$?
exit "$status"
