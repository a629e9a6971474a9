import test, { describe, it } from 'node:test';
import assert from 'node:assert';

test('passes at the top', () => {});
test('fails at the top', () => assert.equal(1, 2));
test('rings \u0007 the bell', () => {});
test('skips', { skip: 'needs a database' }, () => {});
test('still to do', { todo: true }, () => assert.fail('not yet'));
describe('first', () => {
  it('works', () => {});
  describe('deeper', () => { it('works', () => {}); });
});
describe('second', () => {
  it('works', () => {});
  it('fails', () => { throw new Error('broken <tag> & more'); });
});
