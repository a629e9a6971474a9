# Runs a command whose programs of Node, wherever they start, read the file beside this one.
here=$(cd "$(dirname "$0")" && pwd)
NODE_OPTIONS="--require \"$here/plainrun.cjs\"${NODE_OPTIONS:+ $NODE_OPTIONS}"
export NODE_OPTIONS
exec "$@"
