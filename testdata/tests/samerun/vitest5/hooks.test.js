import { afterAll, beforeAll, describe, test } from 'vitest';

describe('before all breaks', () => {
  beforeAll(() => { throw new Error('no database'); });
  test('first', () => {});
  test('second', () => {});
});
describe('after all breaks', () => {
  afterAll(() => { throw new Error('no clean up'); });
  test('only', () => {});
});
