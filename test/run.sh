#!/usr/bin/env bash
# The test command: starts the servers that the tests need, runs every test of every module, and
# stops what it started. test/lint.sh lints.
#
# The race detector watches the modules that have the locking in them, on all their servers. Modules
# that link SQLite, which is Go code here and becomes ten times slower, and those that only drive
# programs are built and run without it. With PATHLOCK_TEST_RACE=all it watches everything.
#
# Arguments go to `go test`.
set -euo pipefail
cd "$(dirname "$0")/.."

# A module runs in one of the two parts. In each, the packages that take longest come first, so that
# no core idles at the end.
watched=(./store/zkstore ./store/redisstore ./gormplugin ./store/etcdstore ./store/quorum ./fsck)
unwatched=(./integration ./store/sqlstore ./integration/samplepage ./integration/release
	./sample-app/internal/cli ./sample-app/internal/httpapi ./cmd/pathlock/internal/cli)
while read -r module; do
	case ${module#"$PWD"}/ in
	/gormplugin/internal/rawsql/sqloracle/) oracle=$module/... ;;
	/bench/ | /cmd/pathlock/ | /integration/ | /sample-app/ | /store/anystore/ | /store/sqlstore/)
		unwatched+=("$module/...") ;;
	*) watched+=("$module/...") ;;
	esac
done < <(go list -m -f '{{.Dir}}')
if [ "${PATHLOCK_TEST_RACE:-}" = all ]; then
	watched+=("${unwatched[@]}" "$oracle")
	unwatched=()
fi

# Everything is compiled while servers are installed and started.
compile() { go list -export -test -deps -f '{{""}}' "$@" >/dev/null; }
{ compile -race "${watched[@]}" && { [ ${#unwatched[@]} = 0 ] || compile "${unwatched[@]}"; }; } &
compiling=$!
. test/servers.sh
pids+=("$compiling")
wait "$compiling"

# They wait for servers, and for leases to end, for half of their time: four packages run at a time,
# and four tests of each that may. The linter vets them. A program that ends need not wait a second
# for further races.
export GORACE="${GORACE:-atexit_sleep_ms=10}"
run() {
	go test -vet=off -p 4 -parallel 4 -timeout 30m -count=1 "$@"
}
status=0
echo "== test, under the race detector"
run -race "$@" "${watched[@]}" || status=$?
if [ ${#unwatched[@]} != 0 ]; then
	echo "== test, without it"
	run "$@" "${unwatched[@]}" || status=$?
	CGO_ENABLED=0 run "$@" "$oracle" || status=$? # or a parser is built of C that is not used
fi
exit "$status"
