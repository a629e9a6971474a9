const { reporters } = require('mocha');
const JUnit = require('mocha-junit-reporter');

module.exports = function (runner) {
  const to = (reporterOption) => ({ reporterOption, reporterOptions: reporterOption });
  new reporters.JSON(runner, to({ output: 'mocha.json' }));
  new reporters.XUnit(runner, to({ output: 'mocha.xunit.xml' }));
  new JUnit(runner, to({ mochaFile: 'mocha.junit.xml' }));
  new reporters.TAP(runner, to({ tapVersion: '13' }));
};
