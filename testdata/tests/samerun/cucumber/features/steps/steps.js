const assert = require('node:assert');
const { Given, When, Then, Before } = require('@cucumber/cucumber');

let tries = 0;
Before({ tags: '@broken-hook' }, () => { throw new Error('no database'); });
Given('a calculator', function () { this.sum = 0; });
When('I add {int} and {int}', function (a, b) { this.sum = a + b; });
Then('I see {int}', function (sum) { assert.equal(this.sum, sum); });
When('I am pending', () => 'pending');
When('I skip', () => 'skipped');
When('I am ambiguous', () => {});
When(/^I am ambig.*$/, () => {});
When('I try twice', () => assert.equal(++tries, 2));
