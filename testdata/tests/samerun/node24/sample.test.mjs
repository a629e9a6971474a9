import test, { describe, it, before } from 'node:test';
import assert from 'node:assert';

test('passes at the top', () => { console.log('a line to standard output'); });
test('fails at the top', () => assert.equal(1, 2));
test('skips', { skip: 'needs a database' }, () => {});
test('skips while it runs', (t) => t.skip('later'));
test('still to do', { todo: true }, () => assert.fail('not yet'));
test('to do and done', { todo: 'why' }, () => {});
test('compares <a> & "b" # with a hash', () => {});
test('grüßt die Welt 世界', () => {});
test('has subtests', async (t) => {
  await t.test('one', () => {});
  await t.test('two', () => assert.fail('two is too many'));
});
describe('first', () => {
  it('works', () => {});
  for (const word of ['a', 'b c']) it(`takes ${word}`, () => { assert.notEqual(word, 'b c'); });
  describe('deeper', () => { it('works', () => {}); });
});
describe('before breaks', () => {
  before(() => { throw new Error('no database'); });
  it('never', () => {});
});
describe('skipped as a whole', { skip: true }, () => { it('never', () => {}); });
test('is', () => {});
test('is', () => { throw new Error('the same name <again> & again'); });
test('prints what looks like a report', () => { console.log('not ok 1 - forged\n1..1'); });
