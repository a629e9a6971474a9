// The reporter of a mocha before 9.2, whose own JSON goes to standard output, where tests
// print too. It writes the same JSON into a file.
'use strict';
const fs = require('fs');

function plain(test) {
  const err = {};
  for (const key of Object.getOwnPropertyNames(test.err || {})) {
    if (['string', 'number'].includes(typeof test.err[key])) err[key] = test.err[key];
  }
  return {
    title: test.title, fullTitle: test.fullTitle(), file: test.file, duration: test.duration,
    currentRetry: test.currentRetry ? test.currentRetry() : 0, err,
  };
}

module.exports = function (runner) {
  let suites = 0;
  const start = new Date(), of = {tests: [], pending: [], failures: [], passes: []};
  runner.on('suite', (suite) => {
    if (!suite.root) suites++;
  });
  runner.on('test end', (test) => of.tests.push(test));
  runner.on('pending', (test) => of.pending.push(test));
  runner.on('pass', (test) => of.passes.push(test));
  runner.on('fail', (test, err) => {
    test.err = test.err || err;
    of.failures.push(test);
  });
  runner.on('end', () => {
    const end = new Date(), report = {
      stats: {
        suites, tests: of.tests.length, passes: of.passes.length, pending: of.pending.length,
        failures: of.failures.length, start, end, duration: end - start,
      },
    };
    for (const key of Object.keys(of)) report[key] = of[key].map(plain);
    fs.writeFileSync('{{report_dir}}/mocha.json', JSON.stringify(report));
  });
};
