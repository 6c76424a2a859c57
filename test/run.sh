#!/usr/bin/env bash
# The test command: lints, starts the servers that the tests need, runs every test of every module,
# and stops what it started. What many do at once runs under -race on every database. What is done
# in turn runs under it on PostgreSQL, and without it on the others.
#
# Arguments go to `go test`, in both parts. A -run chooses from the tests of each part; a -skip
# holds in the first part only.
#
# test/servers.sh says which servers these are and where they come from. Tests that lack their
# server are skipped and say so. With CI=true, they fail.
set -euo pipefail
cd "$(dirname "$0")/.."

. test/servers.sh

./test/lint.sh

# One command runs all modules, so that their packages share the cores. It runs three packages at a
# time, because they wait for servers for about a third of their time. The linter has vetted them.
# Those that take longest come first, so that no core idles at the end.
packages=(./integration ./gormplugin ./store/redisstore ./store/zkstore ./store/etcdstore
	./store/sqlstore ./sample-app/internal/httpapi)
for module in $(go list -m -f '{{.Dir}}'); do
	packages+=("$module/...")
done
echo "== test"
status=0
go test -race -vet=off -p 3 -timeout 30m -count=1 "$@" "${packages[@]}" || status=$?

# The suites of what is done in turn, which the race detector has watched on PostgreSQL: it makes
# them twice as slow on servers, and ten times on SQLite, which is Go code here. The races on MySQL
# and MariaDB have run above. The tests of this part are chosen by skipping all others, since a -run
# among the arguments would take the place of one here.
echo "== test, without the race detector"
packages=(./gormplugin ./integration ./store/memstore ./store/sqlstore ./store/zkstore ./store/etcdstore
	./cmd/pathlock/internal/database)
tests='^Test(SQLite(Deferred|Glebarez|Schema|MigrationsAtOnce)?|MySQL(Schema)?|Growth|NoHerd|LargestUpdate|AnUncontendedRequestAllocatesNothing)$'
races='^TestMySQL$/./^(inversion|storm|anomalies)$'
others=$(go test -vet=off -list '^(Test|Example|Fuzz)' "${packages[@]}" |
	grep -E '^(Test|Example|Fuzz)' | grep -vE "$tests" | sort -u | paste -sd '|')
go test -vet=off -p 3 -timeout 30m -count=1 "$@" -skip "^($others)\$|$races" "${packages[@]}" || status=$?
exit "$status"
