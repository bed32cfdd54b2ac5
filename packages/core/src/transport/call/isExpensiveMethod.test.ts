import { expect, test } from 'vitest'
import { isExpensiveMethod } from './isExpensiveMethod.ts'

test.each([
  ['eth_getLogs', true],
  ['eth_simulateV1', true],
  ['eth_getFilterLogs', true],
  ['eth_getProof', true],
  ['eth_createAccessList', true],
  ['txpool_content', true],
  ['txpool_inspect', true],
  ['txpool_status', false],
  ['debug_traceCall', true],
  ['debug_methodOfOneNode', true],
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
