const { test } = require('@playwright/test');
test('passes', () => {});
test.describe.serial('in order', () => {
  test('first fails', () => { throw new Error('first'); });
  test('second does not run', () => {});
});
