// A reporter for jasmine that writes the JSON of jest. It replaces jasmine's own, so it
// also prints what did not pass, and the totals.
'use strict';
const fs = require('fs');

module.exports = class {
  constructor() {
    this.files = new Map();
    this.titles = [];
    this.totals = {passed: 0, failed: 0, pending: 0};
  }
  file(name) {
    name = name || 'jasmine';
    if (!this.files.has(name)) this.files.set(name, {name, status: 'passed', message: '', assertionResults: []});
    return this.files.get(name);
  }
  // broken keeps what failed outside of a test.
  broken(name, why) {
    const file = this.file(name);
    file.status = 'failed';
    file.message += 'Test suite failed to run\n' + why + '\n';
    console.log(why);
  }
  suiteStarted(suite) { this.titles.push(suite.description); }
  suiteDone(suite) {
    this.titles.pop();
    for (const e of suite.failedExpectations || []) this.broken(suite.filename || suite.fullName, e.message);
  }
  specDone(spec) {
    const status = spec.status === 'excluded' ? 'pending' : spec.status;
    const why = (spec.failedExpectations || []).map((e) => e.message + '\n' + (e.stack || ''));
    this.totals[status]++;
    // Where specs run in parallel, no suite is announced.
    const end = ' ' + spec.description;
    const titles = this.titles.length || spec.fullName === spec.description || !spec.fullName.endsWith(end) ? [...this.titles] : [spec.fullName.slice(0, -end.length)];
    this.file(spec.filename).assertionResults.push({
      ancestorTitles: titles, title: spec.description, fullName: spec.fullName, status, duration: spec.duration, failureMessages: why,
    });
    if (status === 'failed') console.log('FAILED ' + spec.fullName + '\n' + why.join('\n'));
  }
  jasmineDone(result) {
    for (const e of result.failedExpectations || []) this.broken(e.filename, e.message);
    if (result.overallStatus === 'incomplete') this.broken('', result.incompleteReason);
    const {passed, failed, pending} = this.totals;
    console.log(`${passed} passed, ${failed} failed, ${pending} pending`);
    fs.writeFileSync('{{report_dir}}/jasmine.json', JSON.stringify({
      numTotalTests: passed + failed + pending, numFailedTests: failed, success: result.overallStatus !== 'failed', testResults: [...this.files.values()],
    }));
  }
};
