import { BlockList, isIP, isIPv4 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import { createClientIp, speaksForMany } from './clientIp.ts'

const clientIp = createClientIp(['10.0.0.0/8', '192.0.2.1', '2001:db8:1::/48'])

describe("the caller's IP", () => {
  test.each([
    ['no proxy', '203.0.113.9', undefined, '203.0.113.9'],
    ['a stranger who says that he passes on', '203.0.113.9', '10.0.0.2', '203.0.113.9'],
    ['a trusted proxy that says nothing', '10.0.0.1', undefined, '10.0.0.1'],
    ['a trusted proxy', '10.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['what the caller wrote itself, left of the truth', '10.0.0.1', '6.6.6.6, 203.0.113.7', '203.0.113.7'],
    ['trusted proxies in a row', '10.0.0.1', '6.6.6.6, 203.0.113.7, 10.2.0.1, 192.0.2.1', '203.0.113.7'],
    ['nobody but proxies', '10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'],
    ['a proxy as IPv6 sees it', '::ffff:10.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['an IPv6 proxy', '2001:db8:1::7', '2001:db8:2::8', '2001:db8:2::8'],
    ['an address with its port', '10.0.0.1', '203.0.113.7:4711', '203.0.113.7'],
    ['an IPv6 address with its port', '10.0.0.1', '[2001:db8:2::8]:4711', '2001:db8:2::8'],
    ['a name', '10.0.0.1', 'office', '10.0.0.1'],
    ['rubbish after a good hop', '10.0.0.1', '203.0.113.7, unknown, 10.0.0.2', '10.0.0.2'],
    ['an empty header', '10.0.0.1', '', '10.0.0.1'],
    ['an empty hop', '10.0.0.1', '203.0.113.7,', '10.0.0.1'],
    ['no peer, as when the socket has gone', undefined, '203.0.113.7', undefined],
  ])('%s', (_, peer, forwarded, expected) => {
    expect(clientIp(peer, forwarded)).toBe(expected)
  })

  test('a long row of proxies is followed for 32 of them', () => {
    const row = Array.from({ length: 1_000 }, (_, index) => `10.0.${index >> 8}.${index & 255}`)
    expect(clientIp('10.9.9.9', row.join(','))).toBe(row.at(-32))
  })

  test('with no trusted proxy the header is not looked at', () => {
    expect(createClientIp([])('10.0.0.1', '203.0.113.7')).toBe('10.0.0.1')
  })

  test.each([
    [
      '10.0.0.1/8',
      "trustedProxies[1] names one address and a range at once: write zeros after the range's bits, or leave away the '/'",
    ],
    [
      'proxy.internal',
      'trustedProxies[1] is no IP address: write one as in 203.0.113.7 or 2001:db8::1, or a range as in 203.0.113.0/24',
    ],
  ])('rejects %s for a proxy', (text, message) => {
    expect(() => createClientIp(['10.0.0.0/8', text])).toThrow(new TypeError(message))
  })

  test('is what a second reader makes of any header, and never throws', () => {
    const trusted = new BlockList()
    trusted.addSubnet('10.0.0.0', 8)
    trusted.addAddress('192.0.2.1')
    trusted.addSubnet('2001:db8:1::', 48, 'ipv6')
    const isTrusted = (ip: string): boolean => {
      if (trusted.check(ip, isIPv4(ip) ? 'ipv4' : 'ipv6')) return true
      const [, mapped] = /^::ffff:([0-9.]+)$/i.exec(ip) ?? []
      return mapped !== undefined && trusted.check(mapped)
    }
    const oracle = (peer: string, forwarded: string): string => {
      const hops = [...forwarded.split(',').map((hop) => hop.trim()), peer]
      for (let place = hops.length - 1; place >= 0; place -= 1) {
        const before = hops[place - 1]
        if (before === undefined || !isTrusted(hops[place] ?? '') || isIP(before) === 0) return hops[place] ?? ''
      }
      throw new Error('not reached')
    }
    const good = fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('10.0.0.1', '10.9.9.9', '192.0.2.1', '2001:db8:1::7'))
    const hop = fc.oneof(
      { weight: 7, arbitrary: good },
      { weight: 3, arbitrary: fc.stringMatching(/^[ -+\--9;-Za-~]{0,20}$/) },
    )
    const separator = fc.constantFrom(',', ', ', ' ,', ',\t')
    fc.assert(
      fc.property(good, fc.array(fc.tuple(hop, separator), { maxLength: 6 }), hop, (peer, before, last) => {
        const forwarded = before.map(([text, between]) => text + between).join('') + last
        // An IPv6 address with a zone is one to Node; here it means nothing, as it does on any other machine.
        fc.pre(!forwarded.includes('%'))
        expect(clientIp(peer, forwarded)).toBe(oracle(peer, forwarded))
      }),
      { numRuns: fuzzCases(1_000) },
    )
  })
})

test.each([
  ['10.1.2.3', true],
  ['::ffff:10.1.2.3', true],
  ['192.0.2.1', true],
  ['2001:db8:1::5', true],
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['203.0.113.9', false],
  ['11.0.0.1', false],
  ['2001:db8:2::5', false],
  ['::127.0.0.1', false],
])('others may come through %s: %s', (peer, speaks) => {
  expect(speaksForMany(clientIp, peer)).toBe(speaks)
})

test('where no proxy is trusted, only who is on this machine may be one', () => {
  const own = createClientIp([])
  expect([speaksForMany(own, '127.0.0.1'), speaksForMany(own, '10.1.2.3')]).toEqual([true, false])
})
