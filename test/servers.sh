#!/usr/bin/env bash
# Starts the servers that the tests need, exports the variables that name them, and stops at the
# exit of the shell what it started. It is sourced, from the repository's folder. A script that needs
# only some of redis, mariadb, mysql and postgres names these in $some_servers first.
#
# Servers, each by the first of these that there is:
#   1. what the environment names:
#      PATHLOCK_TEST_REDIS     redis://host:port/db
#      PATHLOCK_TEST_MYSQL     user:password@tcp(host:port)/, may create databases; MySQL or MariaDB
#      PATHLOCK_TEST_MARIADB   the same of the other of the two products
#      PATHLOCK_TEST_POSTGRES  postgres://user:password@host:port/database, may create databases
#      PATHLOCK_TEST_CHROMIUM  the program of a Chromium or Chrome; not a server, but found likewise
#   2. docker compose, where it has an engine (test/servers.yml);
#   3. programs on free ports of the loopback interface, in a scratch folder: the Debian packages
#      redis-server, mariadb-server and postgresql, installed if they are missing and this is root,
#      and Oracle's MySQL, which test/mysql.sh fetches without installing it.
# The tests themselves start Sentinels, clusters, valkey and ZooKeeper, from the programs
# redis-server, valkey-server, mariadbd, pgbouncer and java, which are installed in the same way, and
# etcd, which they build from its Go module.

# scratch_parent: the file system in memory, if it has room. The tests make and drop hundreds of
# tables; on a disk, a third of a server's time for that is spent on files.
scratch_parent() {
	needed=$((6 << 20)) # KiB; the data of all servers take about two
	room=$(df -k --output=avail /dev/shm 2>/dev/null | tail -n 1) || true
	available=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo 2>/dev/null) || true
	if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ] && [ "${room:-0}" -gt "$needed" ] && [ "${available:-0}" -gt "$needed" ]; then
		echo /dev/shm
	else
		echo "${TMPDIR:-/tmp}"
	fi
}

scratch=$(mktemp -d "$(scratch_parent)/pathlock-test.XXXXXX")
chmod 711 "$scratch" # the database server runs as a user of its own
compose=""

# cleanup stops the children of the shell that run. It keeps no list of their pids: the system gives
# the pid of one that has ended to a new process or thread, perhaps of somebody else's server.
cleanup() {
	status=$?
	trap '' INT TERM
	running=$(jobs -pr)
	for pid in $running; do
		kill "$pid" 2>/dev/null || true
	done
	for pid in $running; do
		for _ in $(seq 100); do
			jobs -pr | grep -qx "$pid" || break
			sleep 0.1
		done
		jobs -pr | grep -qx "$pid" && kill -9 "$pid" 2>/dev/null || true
	done
	if [ -n "$compose" ]; then
		docker compose -f test/servers.yml -p "$compose" down -v >/dev/null 2>&1 || true
	fi
	rm -rf "$scratch"
	exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

free_port() {
	go run ./test/freeport
}

# has PROGRAM|/GLOB: is it there?
has() {
	case $1 in
	/*) compgen -G "$1" >/dev/null ;;
	*) PATH="$PATH:/usr/sbin" command -v "$1" >/dev/null ;;
	esac
}

# need PROGRAM|/GLOB PACKAGE: is it there, or can its Debian package be installed?
need() {
	has "$1" && return 0
	command -v apt-get >/dev/null || return 1
	[ "$(id -u)" = 0 ] || { echo "   $1 is missing: apt-get install $2" >&2; return 1; }
	echo "== installing $2"
	export DEBIAN_FRONTEND=noninteractive
	{ [ -n "${updated:-}" ] || apt-get update; } >"$scratch/apt.log" 2>&1 && updated=yes &&
		apt-get install -y --no-install-recommends "$2" >"$scratch/apt.log" 2>&1 ||
		{ tail -n 20 "$scratch/apt.log" >&2; return 1; }
	has "$1"
}

# need_zookeeper: the server's classes, and what runs them. The package zookeeper would add a desktop's
# Java to these.
need_zookeeper() {
	need /usr/share/java/zookeeper.jar libzookeeper-java && need java default-jre-headless
}

# need_valkey: the package is in Debian 13 and later; for Debian 12 it is in the backports, from
# where nothing else is taken.
need_valkey() {
	command -v valkey-server >/dev/null && return 0
	if ! { command -v apt-get && [ "$(id -u)" = 0 ] && grep -q '^VERSION_CODENAME=bookworm' /etc/os-release; } >/dev/null 2>&1; then
		need valkey-server valkey-server
		return
	fi
	echo "== installing valkey-server from bookworm-backports"
	export DEBIAN_FRONTEND=noninteractive
	apt=(apt-get -o "Dir::Etc::sourcelist=$scratch/backports.list")
	test/mirrors.sh | while read -r source; do
		cat /etc/apt/sources.list >"$scratch/backports.list" 2>/dev/null || true
		echo "$source bookworm-backports main" >>"$scratch/backports.list"
		"${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends valkey-server && break
	done >"$scratch/apt.log" 2>&1
	command -v valkey-server >/dev/null || { tail -n 20 "$scratch/apt.log" >&2; return 1; }
}

# need_chromium: the browser, unless the environment names one or it is installed by another name.
need_chromium() {
	[ -n "${PATHLOCK_TEST_CHROMIUM:-}" ] || has chromium-browser || has google-chrome || need chromium chromium
}

# wait_for WHAT COMMAND…: until the command succeeds, 30 seconds at most.
wait_for() {
	what=$1
	shift
	for _ in $(seq 300); do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.1
	done
	echo "$what did not come up; its log:" >&2
	tail -n 30 "$scratch"/*.log >&2
	return 1
}

start_compose() {
	docker info >/dev/null 2>&1 && docker compose version >/dev/null 2>&1 || return 1
	compose="pathlock-test-$$"
	docker compose -f test/servers.yml -p "$compose" up -d --wait "$@"
}

start_redis() {
	need redis-server redis-server || return 1
	port=$(free_port) || return 1
	redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no --dir "$scratch" >"$scratch/redis.log" 2>&1 &
	wait_for redis redis-cli -p "$port" ping || return 1
	export PATHLOCK_TEST_REDIS="redis://127.0.0.1:$port/0"
}

start_mariadb() {
	need mariadbd mariadb-server || return 1
	port=$(free_port) || return 1
	data="$scratch/mariadb"
	mkdir "$data" "$data/tmp" # a MariaDB that starts removes temporary tables of others from /tmp
	as=()
	if [ "$(id -u)" = 0 ]; then
		chown mysql "$data" "$data/tmp"
		as=(--user=mysql)
	fi
	mariadb-install-db --no-defaults "${as[@]}" --datadir="$data/data" \
		--auth-root-authentication-method=normal --skip-test-db >"$scratch/mariadb-install.log" 2>&1 || return 1
	PATH="$PATH:/usr/sbin" mariadbd --no-defaults "${as[@]}" --datadir="$data/data" --port="$port" --bind-address=127.0.0.1 \
		--socket="$data/socket" --pid-file="$data/pid" --max-connections=500 --tmpdir="$data/tmp" \
		--innodb-flush-log-at-trx-commit=0 >"$scratch/mariadb.log" 2>&1 &
	wait_for mariadb mariadb --no-defaults -h127.0.0.1 -P"$port" -uroot -e 'select 1' || return 1
	export PATHLOCK_TEST_MARIADB="root:@tcp(127.0.0.1:$port)/"
}

# mysql_program PROGRAM ARGUMENT…: runs one of those that test/mysql.sh has fetched, on their libc.
mysql_program() {
	program=$1
	shift
	loader=$(find "$mysql"/usr/lib -name 'ld-linux*.so.*' | head -n 1)
	exec "$loader" --library-path "$(dirname "$loader")" "$program" "$@"
}

start_mysql() {
	mysql=$(test/mysql.sh "$scratch/mysql-fetch.log") || { tail -n 20 "$scratch/mysql-fetch.log" >&2; return 1; }
	port=$(free_port) || return 1
	data="$scratch/mysql"
	mkdir "$data"
	# The databases of tests are new and small: most of the time goes into making tables.
	options=(--no-defaults --user="$(id -un)" --basedir="$mysql/usr" --lc-messages-dir="$mysql/usr/share/mysql"
		--secure-file-priv=NULL --datadir="$data/data" --innodb-flush-method=nosync --innodb-doublewrite=OFF)
	(mysql_program "$mysql/usr/sbin/mysqld" "${options[@]}" --initialize-insecure) >"$scratch/mysql-install.log" 2>&1 || return 1
	(mysql_program "$mysql/usr/sbin/mysqld" "${options[@]}" --port="$port" --bind-address=127.0.0.1 --mysqlx=OFF \
		--socket="$data/socket" --pid-file="$data/pid" --max-connections=500 --skip-log-bin --performance-schema=OFF \
		--innodb-flush-log-at-trx-commit=0) >"$scratch/mysql.log" 2>&1 &
	wait_for mysql mysql_client "$port" || return 1
	export PATHLOCK_TEST_MYSQL="root:@tcp(127.0.0.1:$port)/"
}

mysql_client() {
	(mysql_program "$mysql/usr/bin/mysql" --no-defaults -h127.0.0.1 -P"$1" -uroot -e 'select 1')
}

# sort_products: the tests take a MySQL from PATHLOCK_TEST_MYSQL and a MariaDB from
# PATHLOCK_TEST_MARIADB, or the other way round. From here on each names its own product.
sort_products() {
	given=("${PATHLOCK_TEST_MYSQL:-}" "${PATHLOCK_TEST_MARIADB:-}")
	unset PATHLOCK_TEST_MYSQL PATHLOCK_TEST_MARIADB
	for dsn in "${given[@]}"; do
		[ -n "$dsn" ] || continue
		case $(go run ./test/product "$dsn") in
		MySQL) export PATHLOCK_TEST_MYSQL="$dsn" ;;
		MariaDB) export PATHLOCK_TEST_MARIADB="$dsn" ;;
		*)
			echo "a server that the environment names does not answer" >&2
			exit 1
			;;
		esac
	done
}

# postgres_bin: the folder of the newest PostgreSQL's programs, which Debian keeps out of PATH.
postgres_bin() {
	find /usr/lib/postgresql -path '*/bin/initdb' 2>/dev/null | sort -V | tail -n 1 | xargs -r dirname
}

start_postgres() {
	need '/usr/lib/postgresql/*/bin/initdb' postgresql || return 1
	bin=$(postgres_bin)
	port=$(free_port) || return 1
	data="$scratch/postgres"
	mkdir "$data"
	as=()
	if [ "$(id -u)" = 0 ]; then
		# The server refuses to run as root.
		chown postgres "$data"
		as=(setpriv --reuid=postgres --regid=postgres --init-groups)
	fi
	"${as[@]}" "$bin/initdb" -D "$data/data" -U postgres -A trust --locale=C.UTF-8 --no-sync >"$scratch/postgres-init.log" 2>&1 || return 1
	"${as[@]}" "$bin/postgres" -D "$data/data" -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories="$data" \
		-c max_connections=500 -c fsync=off >"$scratch/postgres.log" 2>&1 &
	wait_for postgres "$bin/pg_isready" -h 127.0.0.1 -p "$port" || return 1
	export PATHLOCK_TEST_POSTGRES="postgres://postgres@127.0.0.1:$port/postgres"
	export PGSSLMODE=disable # else each connection is made twice: with TLS, which is refused, and without
}

wants() { [[ -z ${some_servers:-} || " $some_servers " = *" $1 "* ]]; }

if wants redis && [ -z "${PATHLOCK_TEST_REDIS:-}" ]; then
	if start_compose redis 2>/dev/null; then
		export PATHLOCK_TEST_REDIS="redis://$(docker compose -f test/servers.yml -p "$compose" port redis 6379)/0"
	else
		start_redis || echo "== NOT TESTED: anything on Redis, since no redis-server can be had here" >&2
	fi
fi
sort_products
if wants mariadb && [ -z "${PATHLOCK_TEST_MARIADB:-}" ]; then
	if start_compose mariadb 2>/dev/null; then
		export PATHLOCK_TEST_MARIADB="root:pathlock@tcp($(docker compose -f test/servers.yml -p "$compose" port mariadb 3306))/"
	else
		start_mariadb || echo "== NOT TESTED: anything on MariaDB, since no server can be had here" >&2
	fi
fi
if wants mysql && [ -z "${PATHLOCK_TEST_MYSQL:-}" ]; then
	if start_compose mysql 2>/dev/null; then
		export PATHLOCK_TEST_MYSQL="root:pathlock@tcp($(docker compose -f test/servers.yml -p "$compose" port mysql 3306))/"
	else
		start_mysql || echo "== NOT TESTED: anything on MySQL, since no server can be had here" >&2
	fi
fi
if wants postgres && [ -z "${PATHLOCK_TEST_POSTGRES:-}" ]; then
	if start_compose postgres 2>/dev/null; then
		export PATHLOCK_TEST_POSTGRES="postgres://postgres:pathlock@$(docker compose -f test/servers.yml -p "$compose" port postgres 5432)/postgres"
	else
		start_postgres || echo "== NOT TESTED: anything on PostgreSQL, since no server can be had here" >&2
	fi
fi
# Tests that disturb servers, or need several, start their own, whichever server the others use.
if [ -z "${some_servers:-}" ]; then
	need redis-server redis-server || echo "== NOT TESTED: what happens when Redis is restarted, fails over or moves slots, since there is no redis-server here" >&2
	need_zookeeper || echo "== NOT TESTED: anything on ZooKeeper, since there are no zookeeper.jar and java here" >&2
	need nginx nginx-light || echo "== NOT TESTED: the proxy of docker-compose.yml, since there is no nginx here" >&2
	need promtool prometheus || echo "== NOT TESTED: alerts and dashboards on a Prometheus, since there is none here" >&2
	need curl curl || echo "== NOT TESTED: the commands of the READMEs, since there is no curl here" >&2
	need_chromium || echo "== NOT TESTED: pages in a browser, since there is no Chromium here" >&2
	need pgbouncer pgbouncer || echo "== NOT TESTED: doctor behind a pooler, since there is no pgbouncer here" >&2
	need_valkey || echo "== NOT TESTED: anything on valkey, since there is no valkey-server here" >&2
fi

echo "== redis: ${PATHLOCK_TEST_REDIS:-none}"
echo "== mariadb: ${PATHLOCK_TEST_MARIADB:-none}"
echo "== mysql: ${PATHLOCK_TEST_MYSQL:-none}"
echo "== postgres: ${PATHLOCK_TEST_POSTGRES:-none}"
