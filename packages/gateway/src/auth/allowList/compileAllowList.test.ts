import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AllowListEntries } from './allowListEntries.ts'
import { compileAllowList } from './compileAllowList.ts'
import type { AllowListRequest } from './compileAllowList.ts'

const a = '0xAbCdEf0123456789aBcDeF0123456789AbCdEf01'
const b = `0x${'b2'.repeat(20)}`

const from = (...values: readonly string[]): { value: string }[] => values.map((value) => ({ value }))
const noValues: AllowListRequest = { ip: undefined, origin: undefined, userAgent: undefined }

const rejectedCall = (entries: AllowListEntries, method: string, params?: unknown): string | undefined =>
  compileAllowList(entries).rejectCall({
    method,
    params: typeof params === 'string' ? params : params === undefined ? undefined : JSON.stringify(params),
  })?.message

describe('compileAllowList', () => {
  test('an empty list or empty types restrict nothing', () => {
    for (const entries of [{}, { ips: [], origins: [], methods: [], addresses: [], userAgents: [] }]) {
      const list = compileAllowList(entries)
      expect(list.rejectRequest(noValues)).toBeUndefined()
      expect(list.rejectCall({ method: 'eth_call', params: undefined })).toBeUndefined()
    }
  })

  test('rejects as documented: 403, -32002, a reason and the message', () => {
    const list = compileAllowList({
      ips: from('10.0.0.1'),
      origins: from('example.com'),
      userAgents: from('Wallet/'),
      methods: from('eth_call', 'eth_getBalance'),
      addresses: from(a),
    })
    const allowed: AllowListRequest = { ip: '10.0.0.1', origin: 'https://example.com', userAgent: 'my-wallet/1.0' }
    expect(list.rejectRequest(allowed)).toBeUndefined()
    const common = { status: 403, code: -32002 }
    expect(list.rejectRequest({ ...allowed, ip: '10.0.0.2' })).toEqual({
      ...common,
      message: 'rejected due to app settings: IP not allowed',
      reason: 'ip_not_allowed',
    })
    expect(list.rejectRequest({ ...allowed, origin: 'https://evil.example' })).toEqual({
      ...common,
      message: 'rejected due to app settings: origin not allowed',
      reason: 'origin_not_allowed',
    })
    expect(list.rejectRequest({ ...allowed, userAgent: 'curl/8' })).toEqual({
      ...common,
      message: 'rejected due to app settings: user agent not allowed',
      reason: 'user_agent_not_allowed',
    })
    expect(list.rejectCall({ method: 'eth_getLogs', params: '[]' })).toEqual({
      ...common,
      message: 'rejected due to app settings: method eth_getLogs not allowed',
      reason: 'method_not_allowed',
    })
    expect(list.rejectCall({ method: 'eth_getBalance', params: `["${b}"]` })).toEqual({
      ...common,
      message: `rejected due to app settings: address ${b} not allowed`,
      reason: 'address_not_allowed',
    })
    expect(list.rejectCall({ method: 'eth_call', params: '[{}]' })).toEqual({
      ...common,
      message: 'rejected due to app settings: call without an address not allowed with an address list',
      reason: 'address_not_allowed',
    })
  })

  test('a request without the value does not match a list', () => {
    expect(compileAllowList({ ips: from('0.0.0.0/0', '::/0') }).rejectRequest(noValues)?.reason).toBe('ip_not_allowed')
    expect(compileAllowList({ origins: from('a.example') }).rejectRequest(noValues)?.reason).toBe('origin_not_allowed')
    expect(compileAllowList({ userAgents: from('x') }).rejectRequest(noValues)?.reason).toBe('user_agent_not_allowed')
  })

  test('a request must match one entry of every type', () => {
    const list = compileAllowList({ ips: from('10.0.0.1', '10.0.0.2'), origins: from('a.example', 'b.example') })
    const getReason = (ip: string, origin: string): string | undefined =>
      list.rejectRequest({ ...noValues, ip, origin: `https://${origin}` })?.reason
    expect(getReason('10.0.0.2', 'a.example')).toBeUndefined()
    expect(getReason('10.0.0.1', 'b.example')).toBeUndefined()
    expect(getReason('10.0.0.3', 'a.example')).toBe('ip_not_allowed')
    expect(getReason('10.0.0.1', 'c.example')).toBe('origin_not_allowed')
  })

  test.each<[string, string, boolean]>([
    ['eth_call', 'eth_call', true],
    ['eth_call', 'eth_callMany', false],
    ['eth_call', 'ETH_CALL', false],
    ['eth_call', '', false],
    ['eth_*', 'eth_getLogs', true],
    ['eth_*', 'ethx_getLogs', false],
    ['eth_*', 'net_version', false],
  ])('with %s listed, %s: %s', (entry, method, allowed) => {
    expect(rejectedCall({ methods: from(entry) }, method) === undefined).toBe(allowed)
  })

  test('compares addresses case-insensitively', () => {
    for (const value of [a, a.toLowerCase(), `0x${a.slice(2).toUpperCase()}`]) {
      expect(rejectedCall({ addresses: from(value) }, 'eth_getBalance', [a])).toBeUndefined()
      expect(rejectedCall({ addresses: from(a) }, 'eth_call', [{ to: value }])).toBeUndefined()
    }
  })

  test('all addresses of a call must be listed', () => {
    const addresses = from(a, b)
    const other = `0x${'c3'.repeat(20)}`
    expect(rejectedCall({ addresses }, 'eth_getLogs', [{ address: [a, b] }])).toBeUndefined()
    expect(rejectedCall({ addresses }, 'eth_getLogs', [{ address: [a, other] }])).toMatch(other)
    expect(rejectedCall({ addresses }, 'eth_getLogs', [{ address: [a, a.slice(2)] }])).toMatch('not an address')
  })

  test.each([
    [`[{"to":"${a}","to":"${b}"}]`],
    [`[{"to":"${b}","to":"${a}"}]`],
    [`[{"to":"${a}","\\u0074o":"${b}"}]`],
    [`[{"to":"${a}","To":"${b}"}]`],
    [`[{"to":"${a}"},"latest",{},{"time":"0x1","time":"0x2"}]`],
  ])('rejects a repeated member name in any spelling that some node treats as equal: %s', (params) => {
    expect(rejectedCall({ addresses: from(a) }, 'eth_call', params)).toBe(
      'rejected due to app settings: repeated or escaped member names not allowed with an address list',
    )
  })

  test('rejects state overrides with a name that JSON.parse was made to misread', () => {
    const entries = { addresses: from(a) }
    const prime = `[{"to":"${a}"},"latest",{"tracer":"callTracer","\\\\u0073tateOver":{}}]`
    const attack = `[{"to":"${a}"},"latest",{"tracer":"callTracer","\\u0073tateOverrides":{"${b}":{"code":"0x00"}}}]`
    for (let round = 0; round < 3; round += 1) {
      rejectedCall(entries, 'debug_traceCall', prime)
      JSON.parse(prime)
      expect(rejectedCall(entries, 'debug_traceCall', attack)).toMatch('escaped member names')
    }
  })

  test('ignores params without an address list', () => {
    expect(rejectedCall({ methods: from('eth_call') }, 'eth_call', '[{"to":1,"to":2}]')).toBeUndefined()
  })

  test('shortens long method names in messages', () => {
    expect(rejectedCall({ methods: from('eth_call') }, 'x'.repeat(100_000))?.length).toBeLessThan(200)
    expect(rejectedCall({ addresses: from(a) }, 'x'.repeat(100_000))?.length).toBeLessThan(200)
  })

  test('a listed address never allows a call to another one, at any position', () => {
    const listed = fc.constantFrom(a, a.toLowerCase())
    const value = fc.oneof(listed, fc.constantFrom(b, null, 1, '', a.slice(0, -1), `${a}0`, [a], { to: a }))
    const name = fc.constantFrom('to', 'To', 'TO', 'from', 'data', 'value', 'stateOverrides')
    const call = fc
      .array(fc.tuple(name, value), { maxLength: 4 })
      .map((members) => `{${members.map(([key, held]) => `"${key}":${JSON.stringify(held)}`).join(',')}}`)
    const list = compileAllowList({ addresses: from(a) })
    /** The address that a node calls if it ignores case and uses the last member. */
    const getCalled = (text: string): unknown => {
      const names: [string, unknown][] = []
      JSON.parse(text, (key, held: unknown) => (key === '' ? held : (names.push([key, held]), held)))
      const members = [...text.matchAll(/"(\w+)":("[^"]*"|null|1|\[[^\]]*\]|\{[^}]*\})[,}]/g)]
      const last = members.findLast(([, key]) => key?.toLowerCase() === 'to')
      return last === undefined ? undefined : (JSON.parse(last[2] ?? 'null') as unknown)
    }
    const seen = { allowed: 0 }
    fc.assert(
      fc.property(call, (text) => {
        if (list.rejectCall({ method: 'eth_call', params: `[${text}]` }) !== undefined) return
        seen.allowed += 1
        expect(String(getCalled(text)).toLowerCase()).toBe(a.toLowerCase())
      }),
      { numRuns: 20_000 },
    )
    expect(seen.allowed).toBeGreaterThan(500)
  })

  test.each<[unknown, RegExp]>([
    [{ ips: from('10.0.0.1', '10.0.0.300') }, /^ips\[1\]\.value is not an IP address/],
    [{ origins: from('https://a.example/x') }, /^origins\[0\]\.value is more than an origin/],
    [{ methods: from('eth_call*') }, /^methods\[0\]\.value is not a method/],
    [{ methods: from('*') }, /leave the list empty/],
    [{ addresses: from(a.slice(2)) }, /^addresses\[0\]\.value is not an address/],
    [{ userAgents: from('') }, /^userAgents\[0\]\.value is not part/],
    [{ userAgents: from(' x') }, /^userAgents\[0\]\.value is not part/],
    [{ ips: Array.from({ length: 31 }, () => ({ value: '10.0.0.1' })) }, /^ips must have at most 30/],
    [{ ips: ['10.0.0.1'] }, /^ips\[0\]\.value must be a string/],
    [{ ips: '10.0.0.1' }, /^ips must be a list/],
    [{ ips: null }, /^ips must be a list/],
    [{ ips: [{ value: '10.0.0.1', label: 'x'.repeat(65) }] }, /^ips\[0\]\.label/],
    [{ ip: [] }, /^the allow list has an unknown type/],
    [null, /^the allow list must be an object/],
  ])('throws for %j', (entries, message) => {
    expect(() => compileAllowList(entries as AllowListEntries)).toThrow(message)
  })

  test('no message repeats an entry, because it may contain a secret', () => {
    const secret = 'https://user:s3cretT0ken@node.example/v3/s3cretT0ken?x=s3cretT0ken'
    for (const type of ['ips', 'origins', 'methods', 'addresses', 'userAgents']) {
      const entries = { [type]: [{ value: `${secret}é`, label: secret.repeat(3) }, { value: `${secret}é` }] }
      expect(() => compileAllowList(entries)).toThrow(TypeError)
      expect(() => compileAllowList(entries)).not.toThrow('s3cretT0ken')
      expect(() => compileAllowList({ [secret]: [] } as AllowListEntries)).not.toThrow('s3cretT0ken')
    }
  })

  test('reports the first entry of each type that allows a request or a call', () => {
    const used: (string | undefined)[] = []
    const name = (id: string, value: string) => ({ id, value })
    const list = compileAllowList(
      {
        ips: [name('office', '10.0.0.0/8'), name('desk', '10.0.0.1')],
        origins: [name('other', 'other.example'), name('site', '*.example.com')],
        userAgents: [name('wallet', 'wallet/')],
        methods: [name('all', 'eth_*'), name('call', 'eth_call')],
        addresses: [name('a', a), name('b', b)],
      },
      {
        trackUse:
          ({ id }) =>
          () =>
            used.push(id),
      },
    )
    const request = { ip: '10.0.0.1', origin: 'https://app.example.com', userAgent: 'Wallet/1' }
    list.rejectRequest(request)
    expect(used.splice(0)).toEqual(['office', 'site', 'wallet'])
    list.rejectRequest({ ...request, ip: '192.0.2.1' })
    expect(used.splice(0)).toEqual([])
    const read = (method: string, to: string) => list.rejectCall({ method, params: JSON.stringify([{ to }, 'latest']) })
    read('eth_call', b)
    expect(used.splice(0)).toEqual(['call', 'b'])
    read('eth_estimateGas', a)
    expect(used.splice(0)).toEqual(['all', 'a'])
    read('net_version', a)
    expect(used).toEqual([])
  })
})
