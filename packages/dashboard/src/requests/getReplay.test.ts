import { expect, test } from 'vitest'
import type { RequestDetailsView } from '@keyrail/gateway'
import { getReplay } from './getReplay.ts'

const replay = (method: string | null, params: string | null = null) =>
  getReplay({ method, params } as RequestDetailsView)

test('recorded params are used, unless they are truncated or by name', () => {
  const recorded = replay('eth_getBalance', '["0x01","latest"]')
  expect(recorded?.source).toBe('log')
  expect(recorded?.steps[0]?.()).toEqual({ method: 'eth_getBalance', params: ['0x01', 'latest'] })
  expect(recorded?.program).toEqual({ call: { method: 'eth_getBalance', params: ['0x01', 'latest'] } })
  for (const cut of ['["0x01","lat', '{"block":1}']) expect(replay('eth_getBalance', cut)?.source).toBe('example')
})

test('without params it is the example for its method, or a call without params', () => {
  expect(replay('eth_getTransactionReceipt')).toMatchObject({ source: 'example', program: { method: 'receipt' } })
  expect(replay('my_method')).toMatchObject({ source: 'none', program: { call: { method: 'my_method', params: [] } } })
})

test('a page cannot repeat a request without a method, a subscription, or a transaction that was not recorded', () => {
  expect(replay(null)).toBeUndefined()
  expect(replay('eth_subscribe', '["newHeads"]')).toBeUndefined()
  expect(replay('eth_sendRawTransaction')).toBeUndefined()
  expect(replay('eth_sendRawTransaction', '["0x02f8"]')?.source).toBe('log')
})
