// Loaded before uvu, which names no test that passes: it wraps what test files get from
// uvu, and writes the JSON of jest when the process ends.
'use strict';
const fs = require('fs'), Module = require('module'), path = require('path');

const entries = []; // tests in the order of their registration

// folder is the first argument of uvu, which its names of files are relative to.
function folder() {
  const words = process.argv.slice(2), valued = /^(-[riC]|--(require|ignore|cwd))$/;
  return words.find((w, i) => !w.startsWith('-') && !valued.test(words[i - 1])) || '';
}

function fileNow() {
  const [name] = (globalThis.UVU_QUEUE || [])[globalThis.UVU_INDEX || 0] || [];
  const found = path.join(folder(), name || 'uvu');
  return fs.existsSync(found) ? found : name;
}

// wrapped are what a module of uvu exports for tests, which are noted.
function wrapped({suite, test}) {
  return {suite: (name, state) => noted(suite(name, state), name || ''), test: noted(test, '')};
}

// noted is a suite's test function. The hook that it registers first begins the next test.
function noted(real, suite) {
  let group, running;
  const begin = () => {
    const mine = group = {tests: [], only: [], at: 0};
    real.before.each(() => {
      running = (mine.only.length ? mine.only : mine.tests)[mine.at++];
    });
  };
  const fails = (e) => {
    running.status = 'failed';
    running.failureMessages.push(String(e && e.stack || e));
    throw e;
  };
  const checked = (hook) => async (state) => {
    try { return await hook(state); } catch (e) { fails(e); }
  };
  const entry = (title, status) => {
    const e = {file: fileNow(), suite, title: String(title), status, failureMessages: []};
    entries.push(e);
    return e;
  };
  const adds = (list, register) => (title, handler) => {
    const e = entry(title, '');
    group[list].push(e);
    return register(title, async (state) => {
      await checked(handler)(state);
      e.status = e.status || 'passed';
    });
  };
  begin();
  const test = adds('tests', real);
  test.only = adds('only', real.only);
  test.skip = (title) => { entry(title, 'skipped'); real.skip(); };
  for (const when of ['before', 'after']) {
    test[when] = (hook) => real[when](hook);
    test[when].each = (hook) => real[when].each(checked(hook));
  }
  test.run = () => {
    if (group.only.length) group.tests.forEach((e) => { e.status = 'skipped'; });
    real.run();
    begin();
  };
  return test;
}

function report() {
  const files = new Map();
  for (const e of entries) {
    if (!files.has(e.file)) files.set(e.file, {name: e.file, status: 'passed', message: '', assertionResults: []});
    const f = files.get(e.file);
    if (!e.status) {
      f.status = 'failed';
      f.message = 'Test suite failed to run\nuvu ended before ' + e.title;
      continue;
    }
    f.assertionResults.push({ancestorTitles: e.suite ? [e.suite] : [], title: e.title, status: e.status, failureMessages: e.failureMessages});
  }
  const list = [...files.values()], all = list.flatMap((f) => f.assertionResults);
  fs.writeFileSync('{{report_dir}}/uvu.json', JSON.stringify({
    numTotalTests: all.length, numFailedTests: all.filter((e) => e.status === 'failed').length, success: !process.exitCode, testResults: list,
  }));
}

// Modules are resolved in a thread of their own.
const hooks = `
const own = 'supervise-uvu:';
export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  if (specifier !== 'uvu' || (context.parentURL || '').startsWith(own)) return found;
  return {url: own + found.url, format: 'module', shortCircuit: true};
}
export async function load(url, context, next) {
  if (!url.startsWith(own)) return next(url, context);
  const source = 'import * as real from ' + JSON.stringify(url.slice(own.length)) + '; const all = globalThis.superviseUvu(real); export const suite = all.suite, test = all.test, exec = real.exec;';
  return {format: 'module', source, shortCircuit: true};
}`;

if (require('worker_threads').isMainThread && /(\.bin[\\/]uvu|uvu[\\/]bin\.js)$/.test(process.argv[1] || '')) {
  globalThis.superviseUvu = wrapped;
  if (Module.register) Module.register('data:text/javascript,' + encodeURIComponent(hooks));
  // What is required comes from the cache of modules.
  const required = require(path.join(path.dirname(fs.realpathSync(process.argv[1])), 'dist', 'index.js'));
  Object.assign(required, wrapped(required));
  process.on('exit', report);
}
