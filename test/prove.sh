#!/usr/bin/env bash
# Runs the program proof, on the servers that it needs: those of test/servers.sh. A seed needs none.
#
# Arguments go to the program.
set -euo pipefail
cd "$(dirname "$0")/.."
. test/flags.sh

case " $* " in
*" -seed="*) ;;
*)
	some_servers="redis mariadb mysql postgres"
	. test/servers.sh
	;;
esac
go run ./proof "$@"
