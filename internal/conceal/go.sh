# Runs a command whose go test, wherever it starts, builds and starts its tests as the
# files beside this one say.
here=$(dirname "$0")
root=$(go env GOROOT) || exit
sed "s,@GOROOT@,$root,g" "$here/overlay" >"$here/overlay.json" || exit
GOFLAGS="${GOFLAGS:-$(go env GOFLAGS)} '-overlay=$here/overlay.json' '-exec=sh $here/start.sh'"
export GOFLAGS
exec "$@"
