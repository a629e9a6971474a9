const { test } = require('@playwright/test');
require('./nowhere.js');
test('never', () => {});
