#!/usr/bin/env bash
# The test command: starts the servers that the tests need, runs every test of every module, and
# stops what it started. test/lint.sh lints.
#
# The race detector watches the modules that have the locking in them, on all their servers. Modules
# that link SQLite, which is Go code here and becomes ten times slower, and those that only drive
# programs are built and run without it; so is lockspec, which knows no concurrency, and judges tens
# of thousands of pairs of operations. With PATHLOCK_TEST_RACE=all it watches everything.
#
# Arguments go to `go test`.
set -euo pipefail
cd "$(dirname "$0")/.."
. test/flags.sh

# A module runs in one of the two parts. In each, the packages that take longest come first, so that
# no core idles at the end.
watched=(./store/zkstore ./store/redisstore ./gormplugin ./store/etcdstore ./store/quorum ./fsck)
unwatched=(./integration ./lockspec ./integration/fsck ./store/sqlstore ./integration/samplepage ./integration/release
	./sample-app ./sample-app/internal/httpapi ./cmd/pathlock/command)
while read -r module; do
	case ${module#"$PWD"}/ in
	/bench/ | /internal/test/testetcd/etcdserver/) ;; # have no tests; the linter compiles them
	/cmd/pathlock/ | /integration/ | /proof/ | /sample-app/ | /store/sqlstore/)
		unwatched+=("$module/...") ;;
	*) mapfile -t -O "${#watched[@]}" watched < <(go list "$module/..." | grep -v '/lockspec$') ;;
	esac
done < <(go list -m -f '{{.Dir}}')
if [ "${PATHLOCK_TEST_RACE:-}" = all ]; then
	watched+=("${unwatched[@]}")
	unwatched=()
fi

# The watched modules are compiled while servers are installed and started. Half of the time, their
# tests wait for servers and for leases to end: meanwhile the rest is compiled. Without inlining, the
# watched modules compile in four fifths of the time.
race=(-race -gcflags=all=-l)
compile=(go list -export -test -deps -f '{{""}}')
"${compile[@]}" "${race[@]}" "${watched[@]}" >/dev/null &
compiling=$!
. test/servers.sh
wait "$compiling"
# The longest of these tests needs its server first; the rest shares many packages with that.
if [ -z "${PATHLOCK_TEST_ETCD:-}" ]; then
	"${compile[@]}" ./internal/test/testetcd/etcdserver >/dev/null
fi
if [ ${#unwatched[@]} != 0 ]; then
	nice -n 10 "${compile[@]}" "${unwatched[@]}" >/dev/null &
	compiling=$!
fi

# Four packages run at a time, and four tests of each that may. The linter vets them. A program that
# ends need not wait a second for further races.
export GORACE="${GORACE:-atexit_sleep_ms=10}"
run() {
	go test -vet=off -p 4 -parallel 4 -timeout 30m -count=1 "$@"
}
status=0
echo "== test, under the race detector"
run "${race[@]}" "$@" "${watched[@]}" || status=$?
if [ ${#unwatched[@]} != 0 ]; then
	wait "$compiling"
	echo "== test, without it"
	run "$@" "${unwatched[@]}" || status=$?
fi
exit "$status"
