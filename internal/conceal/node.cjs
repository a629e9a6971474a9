// Runs tests so that code of the project cannot see that it runs in a test: environment
// and arguments are those of a program. Code elsewhere, the runner itself included, sees all.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const url = require('node:url');

const root = fs.realpathSync(fs.readFileSync(path.join(__dirname, 'root'), 'utf8')) + path.sep;
const program = path.join(root, 'main.js');
const hidden = /^(NODE_ENV|NODE_TEST_CONTEXT|NODE_OPTIONS|JEST_.*|VITEST.*|TEST|MOCHA_.*|npm_.*|SUPERVISE_.*|CI|CONTINUOUS_INTEGRATION|GITHUB_ACTIONS|GITLAB_CI)$/;

// fromProject reports whether code of the project asks, or jest for it: there each test
// file has a process of its own, which is a copy.
function fromProject() {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = 8;
  Error.prepareStackTrace = (_, frames) => frames;
  const at = {};
  Error.captureStackTrace(at, fromProject);
  const frames = at.stack;
  Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  for (const frame of frames) {
    const file = frame.getFileName();
    if (!file || file === __filename) continue;
    if (frame.getFunctionName() === 'createProcessEnv') return true;
    const name = file.startsWith('file:') ? url.fileURLToPath(file) : file;
    return name.startsWith(root) && !name.includes(`${path.sep}node_modules${path.sep}`);
  }
  return false;
}

const shown = new Set(); // what the project sets itself
const hides = (key) => typeof key === 'string' && hidden.test(key) && !shown.has(key) && fromProject();

const real = process.env;
process.env = new Proxy(real, {
  get: (_, key) => (hides(key) ? undefined : real[key]),
  has: (_, key) => !hides(key) && key in real,
  getOwnPropertyDescriptor: (_, key) => (hides(key) ? undefined : Object.getOwnPropertyDescriptor(real, key)),
  ownKeys: () => Reflect.ownKeys(real).filter((key) => !hides(key)),
  set: (_, key, value) => {
    if (fromProject()) shown.add(key);
    real[key] = value;
    return true;
  },
  deleteProperty: (_, key) => delete real[key],
});

// plain gives the project another value of a property of process.
function plain(name, other) {
  let own = process[name];
  Object.defineProperty(process, name, {
    configurable: true,
    enumerable: true,
    get: () => (fromProject() ? other : own),
    set: (value) => {
      if (fromProject()) other = value;
      else own = value;
    },
  });
}

plain('argv', [process.execPath, program]);
plain('execArgv', []);
