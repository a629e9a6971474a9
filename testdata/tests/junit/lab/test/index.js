'use strict';
const Lab = require('@hapi/lab');
const { expect } = require('@hapi/code');
const lab = exports.lab = Lab.script();
lab.describe('sums', () => {
    lab.it('adds', () => { expect(1 + 1).to.equal(2); });
    lab.it('adds', () => { expect(1 + 1).to.equal(2); });
    lab.it('fails <&>', () => { expect(1).to.equal(2); });
    lab.it('later');
    lab.it('left out', { skip: true }, () => {});
    lab.experiment('deeper', () => { lab.test('throws', () => { throw new Error('no'); }); lab.test('ok é', () => {}); });
});
