#!/usr/bin/env bash
# Makes a release of all modules of the repository, which have one version.
#
#   test/release.sh v0.1.0            shows what the release would change
#   WRITE=1 test/release.sh v0.1.0    commits and tags it, and pushes nothing
#
# Every module but the root requires the root at the version of the last release, and so it requires
# other modules of the repository. A release sets these requirements to its own version, has go.work
# replace the new version with the working tree, and gives the changes in CHANGELOG.md a heading.
# All of that is one commit with a tag for each module that people install: v0.1.0,
# store/sqlstore/v0.1.0, sample-app/v0.1.0 and so on. The other modules serve this repository alone.
set -euo pipefail
cd "$(git rev-parse --show-toplevel)"

refuse() {
	echo "release: $*" >&2
	exit 1
}

version=${1-}
module=$(sed -n 's/^module //p' go.mod)
# A module of the repository and its version, in a go.mod or as a go.work replaces it.
ours="(\\b${module//./\\.}(/[^ ]+)?) v[^ ]+"
last=$(sed -nE "s|^replace $module (v[^ ]+) .*|\\1|p" go.work | grep .)

[ $# -eq 1 ] || refuse "give one version: v1.2.3 or v1.2.3-rc.1"
number='(0|[1-9][0-9]*)' word='(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)'
[[ $version =~ ^v[01]\.$number\.$number(-$word(\.$word)*)?$ ]] ||
	refuse "$version is not of the form v1.2.3 or v1.2.3-rc.1, or of another major version"
# sort -V puts a tilde before the end of a version, as v0.1.0-rc.1 comes before v0.1.0.
[[ $version != "$last" && $(printf '%s\n' "$last" "$version" | tr - '~' | sort -V | tail -n 1) = "${version//-/\~}" ]] ||
	refuse "$version is not above $last"
[ -z "$(git status --porcelain)" ] || refuse "there are uncommitted changes"
awk '/^## / { inside = $0 == "## [Unreleased]"; next } inside && NF { found = 1 } END { exit !found }' CHANGELOG.md ||
	refuse "CHANGELOG.md has no changes under [Unreleased]"

tags=()
for folder in $(sed -nE 's|^\t\./?||p' go.work | sed 's|^$|.|'); do
	case $folder in
	.) tags+=("$version") ;;
	bench | integration | proof | */internal/*) ;;
	*) tags+=("$folder/$version") ;;
	esac
done
for where in . $(git remote); do
	found=$(git ls-remote --tags "$where" "${tags[@]}")
	[ -z "$found" ] || refuse "the version exists at $where: $found"
done

trap 'git checkout --quiet HEAD -- .' EXIT
sed -Ei "s#$ours#\\1 $version#" go.work $(git ls-files '*/go.mod')
sed -i "s/^## \[Unreleased\]\$/&\n\n## [${version#v}] - $(date -u +%F)/" CHANGELOG.md
git --no-pager diff
echo "tags: ${tags[*]}"
if [ -z "${WRITE-}" ]; then
	echo "nothing is written; WRITE=1 makes the release"
	exit
fi
git commit --quiet --all --message "Release $version"
for tag in "${tags[@]}"; do
	git tag --annotate --message "Release $version" "$tag"
done
echo "publish it: git push --atomic origin HEAD ${tags[*]}"
