#!/usr/bin/env bash
# Runs the benchmarks in rounds, and compares them with benchstat. The servers are those of
# test/servers.sh. README.md says how to read the output.
#
#   bench/run.sh [-run REGEXP] [-rounds N] [-quick]
#
# -run chooses benchmarks, whatever the case: latency, wakeup, stores, http, middleware,
# reentry. -quick shows that everything works; its numbers mean nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

chosen=. rounds=7 time=1s
while [ $# -gt 0 ]; do
	case $1 in
	-run) chosen=${2:?-run needs a regular expression} && shift 2 ;;
	-rounds) rounds=${2:?-rounds needs a number} && shift 2 ;;
	-quick) rounds=1 time=1x && shift ;;
	*) echo "bench: unknown argument $1; use -run REGEXP, -rounds N, -quick" >&2 && exit 2 ;;
	esac
done

# The databases' files are on the disk, which the benchmark by HTTP waits for.
export TMPDIR=${TMPDIR:-/tmp}
. test/servers.sh

results=$PWD/bench/results.txt
: >"$results"
for round in $(seq "$rounds"); do
	echo "== round $round of $rounds"
	# go test matches each alternative by itself, so each has to say that the case does not count.
	go test -run '^$' -bench "(?i)${chosen//|/|(?i)}" -benchtime "$time" -timeout 30m ./bench | tee -a "$results"
done

# compare NAMES TITLE ARGUMENT…: compares the benchmarks of these names, if they ran.
compare() {
	grep -qE "^Benchmark($1)\b" "$results" || return 0
	echo
	echo "== $2"
	(cd bench && go tool benchstat "${@:3}" "$results") | grep -vE '^(goos|goarch|pkg|cpu):'
}
compare Latency "latency, against redislock of one key" -filter '.name:Latency' -table '' -row /depth \
	-col '/lock@(redislock ObtainMulti pathlock.Store pathlock.Locker)'
compare Latency "latency, against ObtainMulti on the same nodes" -filter '.name:Latency /lock:(ObtainMulti OR pathlock.Store)' \
	-table '' -row /depth -col '/lock@(ObtainMulti pathlock.Store)'
compare WakeUp "from a release to the grant of its waiter" -filter '.name:WakeUp' -table '' -row .name \
	-col '/lock@(rueidislock redislock pathlock.Store pathlock.Locker)'
compare Stores "lock stores, against Redis" -filter '.name:Stores' -table '' -row /work -col "/store@(Redis memory SQLite PostgreSQL MariaDB MySQL ZooKeeper etcd quorum)"
compare HTTP "HTTP, against no protection" -filter '.name:HTTP' -table '' -row /clients \
	-col '/rule@(none assertion whole-plan parent-exclusive name-slots)'
compare HTTP "HTTP, against one lock for the plan" -filter '.name:HTTP /rule:(whole-plan OR name-slots)' -table '' -row /clients \
	-col '/rule@(whole-plan name-slots)'
compare 'Middleware|Reentry' "in one process" -filter '.name:(Middleware OR Reentry)' -table '' -row .fullname
grep -q '^Benchmark' "$results" || { echo "bench: no benchmark matches $chosen" >&2 && exit 2; }
