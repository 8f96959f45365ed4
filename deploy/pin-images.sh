#!/usr/bin/env bash
# pin-images.sh FOLDER: Containerfile and compose.yaml anew in FOLDER, every image that is pulled named by its digest too,
# as its registry gives it now. Asks with crane, skopeo or docker, whichever is there. Where one image cannot be resolved
# it fails and writes nothing: half pinned would look pinned.
set -euo pipefail
[ $# = 1 ] && [ ! -e "$1" ] || { echo "usage: pin-images.sh FOLDER, which must not be there yet" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
files=(Containerfile compose.yaml)

digest_of() {
    if command -v crane > /dev/null; then crane digest "$1"
    elif command -v skopeo > /dev/null; then skopeo inspect --no-tags --format '{{.Digest}}' "docker://$1"
    elif command -v docker > /dev/null; then docker buildx imagetools inspect --format '{{.Manifest.Digest}}' "$1"
    else echo "pin-images.sh needs crane, skopeo or docker" >&2; return 1
    fi
}

part=$(mktemp -d)
trap 'rm -rf "$part"' EXIT
for file in "${files[@]}"; do cp "$here/$file" "$part/$file"; done
images=$(sed -nE 's#^(FROM|[[:space:]]*image:)[[:space:]]+([^[:space:]]+/[^[:space:]]+).*#\2#p' "${files[@]/#/$part/}" | sort -u)
[ -n "$images" ] || { echo "pin-images.sh found no image" >&2; exit 1; }
for image in $images; do
    digest=$(digest_of "$image") || { echo "not pinned: $image cannot be resolved" >&2; exit 1; }
    [[ $digest =~ ^sha256:[0-9a-f]{64}$ ]] || { echo "not pinned: $image has no digest ($digest)" >&2; exit 1; }
    sed -i -E "s#^((FROM|[[:space:]]*image:)[[:space:]]+${image//./\\.})([[:space:]]|\$)#\1@$digest\3#" "${files[@]/#/$part/}"
    echo "$image@$digest"
done
mkdir "$1"
cp "${files[@]/#/$part/}" "$1"
