#!/usr/bin/env bash
# Runs go mod tidy in every module. The modules require each other at the last release, which may
# lack what the working tree imports, or not exist yet. So temporary replacements put the working
# tree in its place.
#
# With -check, it writes nothing and fails if a module is not tidy.
set -euo pipefail
cd "$(dirname "$0")/.."

check=
if [ "${1-}" = -check ]; then check=1; fi

root=$(go list -m -f '{{if eq .Dir "'"$PWD"'"}}{{.Path}}{{end}}' | grep .)
# The version that go.work replaces with the working tree, of all modules alike.
version=$(awk -v root="$root" '$1 == "replace" && $2 == root { print $3 }' go.work | grep .)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The modules of the working tree: one path and one folder per line.
modules=$(go list -m -f '{{.Path}} {{.Dir}}')
replace=() drop=()
while read -r path dir; do
	replace+=(-replace "$path@$version=$dir")
	drop+=(-dropreplace "$path@$version")
done <<<"$modules"

# tidy DIR: tidies the copies of a module's go.mod and go.sum.
tidy() {
	if [ "$1" = "$PWD" ]; then
		(cd "$1" && GOWORK=off go mod tidy -modfile "$scratch/go.mod")
		return
	fi
	go mod edit "${replace[@]}" "$scratch/go.mod"
	(cd "$1" && GOWORK=off go mod tidy -modfile "$scratch/go.mod") || return
	go mod edit "${drop[@]}" "$scratch/go.mod"
}

status=0
# A module outside of go.work must be tidy, too.
for file in $(git ls-files go.mod '*/go.mod'); do
	dir=$PWD/$(dirname "$file")
	dir=${dir%/.}
	cp "$dir/go.mod" "$dir/go.sum" "$scratch"
	if ! tidy "$dir"; then
		echo "cannot be tidied: $dir" >&2
		status=1
		continue
	fi
	for file in go.mod go.sum; do
		if cmp -s "$scratch/$file" "$dir/$file"; then continue; fi
		if [ -n "$check" ]; then
			echo "not tidy: $dir/$file" >&2
			diff -u "$dir/$file" "$scratch/$file" >&2 || true
			status=1
		else
			cp "$scratch/$file" "$dir/$file"
		fi
	done
done
exit "$status"
