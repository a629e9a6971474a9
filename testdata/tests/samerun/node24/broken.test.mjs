import test from 'node:test';
import './nowhere.mjs';
test('never', () => {});
