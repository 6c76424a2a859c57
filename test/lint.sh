#!/usr/bin/env bash
# Checks every module of the workspace: gofmt, the width of comments, and golangci-lint with go vet.
#
# With -built, it skips golangci-lint if that is not built yet: building it takes as long as
# everything else that test/check.sh does.
set -euo pipefail
cd "$(dirname "$0")/.."
. test/flags.sh

golangci_version=v2.15.0

unformatted=$(git ls-files -z '*.go' | xargs -0 gofmt -l)
if [ -n "$unformatted" ]; then
	echo "not gofmt-clean:" $unformatted >&2
	exit 1
fi

# Prose in comments ends at column 100, with tabs of four. Lists, tables and output keep their lines.
wide=$(git ls-files -z '*.go' '*.lua' '*.sql' ':!*example*_test.go' | LC_ALL=C.UTF-8 xargs -0 grep -nP \
	'^(?:(?://|--) \S.{97}|\t(?://|--) \S.{93}|\t{2}(?://|--) \S.{89}|\t{3}(?://|--) \S.{85}|\t{4}(?://|--) \S.{81})' || true)
if [ -n "$wide" ]; then
	printf 'comments beyond column 100:\n%s\n' "$wide" >&2
	exit 1
fi

# The linter is built once for each machine and version, into GOPATH.
bin="$(go env GOPATH)/bin/golangci-lint-$golangci_version"
if [ ! -x "$bin" ]; then
	if [ "${1-}" = -built ]; then
		echo "== NOT LINTED: golangci-lint is not built; make lint builds it, once"
		exit
	fi
	echo "== building golangci-lint $golangci_version, once: three minutes on two cores"
	dir=$(mktemp -d)
	GOBIN="$dir" GOWORK=off go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$golangci_version"
	mkdir -p "$(dirname "$bin")"
	mv "$dir/golangci-lint" "$bin"
	rmdir "$dir"
fi

# One run over all modules loads their shared packages once.
packages=()
while read -r module; do
	packages+=(".${module#"$PWD"}/...")
done < <(go list -m -f '{{.Dir}}')

echo "== lint"
"$bin" run "${packages[@]}"
