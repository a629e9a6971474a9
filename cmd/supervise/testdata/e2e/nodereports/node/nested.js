const {test, describe, it} = require('node:test');
const assert = require('node:assert');
const {sum} = require('../src/sum');

// Six tests, as node counts them: of outer, inner and it the failure of one that is in them.
test('outer', async (t) => {
  await t.test('adds', () => assert.equal(sum(1, 2), 3));
  await t.test('inner', (t) => t.test('is wrong', () => assert.equal(sum(1, 2), 4)));
});
describe('suite', () => {
  describe('in a suite', () => {
    it('holds a test', (t) => t.test('adds', () => assert.equal(sum(1, 1), 2)));
  });
});
