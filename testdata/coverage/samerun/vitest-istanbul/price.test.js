import { expect, test } from 'vitest';
import { price } from './src/price.js';

test('a price', () => { expect(price(2, false)).toBe(20); });
