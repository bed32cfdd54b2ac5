import { expect, test } from 'vitest'
import { isExpensiveMethod } from './isExpensiveMethod.ts'

test.each([
  ['eth_getLogs', true],
  ['eth_simulateV1', true],
  ['debug_traceCall', true],
  ['trace_block', true],
  ['eth_getLogsX', false],
  ['eth_simulateV1Fast', false],
  ['my_debug_traceCall', false],
  ['DEBUG_traceCall', false],
  ['tracer_block', false],
  ['eth_call', false],
  ['', false],
])('%s is expensive: %s', (method, expected) => {
  expect(isExpensiveMethod(method)).toBe(expected)
})
