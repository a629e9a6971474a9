const assert = require('assert');
const {sum} = require('../src/sum');

describe('sum', function () {
  it('adds', function () {
    console.log('{"stats": {}}');
    assert.equal(sum(1, 2), 3);
  });
  it('fails', function () {
    assert.equal(sum(1, 2), 4);
  });
  it('waits');
});
