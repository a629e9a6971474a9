const { test } = require('@playwright/test');

test.beforeAll(() => { throw new Error('no database'); });
test('first', () => {});
test('second', () => {});
