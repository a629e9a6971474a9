# Runs a command whose pytest, wherever it starts, reads the plug-in beside this file.
here=$(dirname "$0")
PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH}
PYTEST_PLUGINS=plainrun${PYTEST_PLUGINS:+,$PYTEST_PLUGINS}
export PYTHONPATH PYTEST_PLUGINS
exec "$@"
