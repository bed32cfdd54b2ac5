import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compileAllowList } from '../../src/auth/allowList/compileAllowList.ts'
import type { AllowListEntries } from '../../src/auth/allowList/allowListEntries.ts'
import type { KeyRecord } from '../../src/auth/key/keyStore.ts'
import { compileJwtPolicy } from '../../src/auth/jwt/jwtPolicy.ts'
import { unreachableUrl, post } from '../startGateway.ts'
import { createSigner } from './signToken.ts'
import { noLimits, startTenants } from './startTenants.ts'
import type { StartedTenants } from './startTenants.ts'

let started: StartedTenants
beforeAll(async () => {
  const unreachable = { chainId: 1, upstreams: [{ url: unreachableUrl }] }
  started = await startTenants({
    networks: { testnet: unreachable, mainnet: unreachable },
    unknownKeys: { perSecond: 1, burst: 9 },
  })
})
afterAll(() => started.stop())

const signer = createSigner('kid')
const jwt = { policy: compileJwtPolicy({ keys: [{ kid: 'kid', pem: signer.pem }] }), required: true }

interface Case {
  record: Partial<KeyRecord>
  lists: AllowListEntries
  appPath: boolean
  body: string
  method: string
  params: string
}

/** Faults in the order of the checks. Each turns a valid request into one with that fault. The node is never reachable. */
const faults: readonly [reason: string, make: (each: Case) => void][] = [
  ['key_disabled', ({ record }) => Object.assign(record, { status: 'disabled' })],
  ['key_expired', ({ record }) => Object.assign(record, { expiresAt: 1 })],
  ['wrong_network', ({ record }) => Object.assign(record, { networks: ['mainnet'] })],
  ['key_wrong_path', (each) => (each.appPath = false)],
  ['ip_not_allowed', (each) => (each.lists = { ...each.lists, ips: [{ value: '203.0.113.7' }] })],
  ['origin_not_allowed', (each) => (each.lists = { ...each.lists, origins: [{ value: 'https://a.example' }] })],
  ['user_agent_not_allowed', (each) => (each.lists = { ...each.lists, userAgents: [{ value: 'wallet' }] })],
  ['jwt_invalid', ({ record }) => Object.assign(record, { jwt })],
  ['service_off', ({ record }) => Object.assign(record, { services: [] })],
  ['parse_error', (each) => (each.body = '{')],
  ['method_not_found', (each) => (each.method = 'eth_nope')],
  ['invalid_params', (each) => (each.params = '1')],
  ['method_not_allowed', (each) => (each.lists = { ...each.lists, methods: [{ value: 'eth_gasPrice' }] })],
  ['address_not_allowed', (each) => (each.lists = { ...each.lists, addresses: [{ value: `0x${'aa'.repeat(20)}` }] })],
  ['quota_exceeded', ({ record }) => Object.assign(record, { limits: { ...noLimits, perDay: 0 } })],
  ['no_upstream', () => {}],
]

const getReason = async (makers: readonly ((each: Case) => void)[]): Promise<string> => {
  const each: Case = { record: {}, lists: {}, appPath: true, body: '', method: 'eth_call', params: '[{"to":"0x0"}]' }
  for (const make of makers) make(each)
  const { path } = started.addApp({ ...each.record, allow: compileAllowList(each.lists) })
  const body = `{"jsonrpc":"2.0","id":1,"method":"${each.method}","params":${each.params}}`
  const { text } = await post(each.appPath ? path : path.replace('/v2', ''), each.body === '' ? body : each.body)
  return (JSON.parse(text) as { error: { data: { reason: string } } }).error.data.reason
}

describe('with two faults the error names the first one checked', () => {
  const pairs = faults.flatMap(([first, makeFirst], index) =>
    faults.slice(index + 1).map(([second, makeSecond]) => ({ first, second, makeFirst, makeSecond })),
  )
  test.each(pairs)('$first before $second', async ({ first, makeFirst, makeSecond }) => {
    expect(await getReason([makeSecond, makeFirst])).toBe(first)
  })
})
