const assert = require('node:assert');

describe('math', function () {
  it('adds', function () { assert.equal(1 + 1, 2); });
  it('fails', function () { assert.equal(1, 2, 'one is not two'); });
  it.skip('skips', function () {});
  it('skips while it runs', function () { this.skip(); });
  it('is pending, it has no body');
  for (const word of ['a', 'b c']) it(`takes ${word}`, function () { assert.notEqual(word, 'b c'); });
  it('compares <a> & "b" # with a hash', function () {});
  it('grüßt die Welt 世界', function () {});
  describe('deeper', function () { it('adds', function () {}); });
  describe.skip('skipped as a whole', function () { it('never', function () {}); });
});
describe('before all breaks', function () {
  before(function () { throw new Error('no database'); });
  it('first', function () {});
  it('second', function () {});
});
describe('after each breaks', function () {
  afterEach(function () { throw new Error('no clean up'); });
  it('first', function () {});
  it('second', function () {});
});
describe('with retries', function () {
  this.retries(2);
  let tries = 0;
  it('passes the second time', function () { assert.equal(++tries, 2); });
});
it('at the top', function () { console.log('a line to standard output'); });
it('is', function () {});
it('is', function () { throw new TypeError('the same name <again> & again\nin two lines'); });
