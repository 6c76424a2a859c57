#!/usr/bin/env bash
# Runs go mod tidy in every module. The modules require the last release of the root module, which
# may lack what the working tree imports, or not exist yet. So a temporary replacement puts the
# working tree in its place. The checksums of the release stay.
#
# With -check, it writes nothing and fails if a module is not tidy.
set -euo pipefail
cd "$(dirname "$0")/.."

check=
if [ "${1-}" = -check ]; then check=1; fi

root=$(go list -m -f '{{if eq .Dir "'"$PWD"'"}}{{.Path}}{{end}}' | grep .)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# tidy DIR: tidies the copies of a module's go.mod and go.sum.
tidy() {
	if [ "$1" = "$PWD" ]; then
		(cd "$1" && GOWORK=off go mod tidy -modfile "$scratch/go.mod")
		return
	fi
	released=$(grep -F "$root v" "$1/go.sum" || true)
	go mod edit -replace "$root=$PWD" "$scratch/go.mod"
	(cd "$1" && GOWORK=off go mod tidy -modfile "$scratch/go.mod") || return
	go mod edit -dropreplace "$root" "$scratch/go.mod"
	# In the go command's order, which is by path.
	LC_ALL=C awk -v root="$root" -v released="$released" '
		!put && $1 > root { if (released != "") print released; put = 1 }
		{ print }
		END { if (!put && released != "") print released }
	' "$scratch/go.sum" >"$scratch/sum"
	mv "$scratch/sum" "$scratch/go.sum"
}

status=0
for dir in $(go list -m -f '{{.Dir}}'); do
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
