# Starts a test binary under another name and without arguments: they are in a file.
binary=$1
shift
folder=$(mktemp -d "$(dirname "$0")/XXXXXX") || exit
ln "$binary" "$folder/app" 2>/dev/null || cp "$binary" "$folder/app" || exit
printf '%s\n' "$@" >"$folder/settings"
APP_SETTINGS=$folder/settings
export APP_SETTINGS
unset CI CONTINUOUS_INTEGRATION GITHUB_ACTIONS GITLAB_CI SUPERVISE_ITERATION SUPERVISE_LOOP_ID
exec "$folder/app"
