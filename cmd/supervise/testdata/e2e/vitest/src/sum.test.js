import { describe, expect, test } from 'vitest'
import { sign, sum } from './sum.js'

test('adds', () => {
  expect(sum(1, 2)).toBe(3)
})

describe('sign', () => {
  test.each([[1, 1], [0, 0]])('of %i is %i', (n, want) => {
    expect(sign(n)).toBe(want)
  })
  test('of text', () => {
    expect(sign('a')).toBe(1)
  })
  test.skip('of infinity', () => {})
  test.todo('of big numbers')
})
