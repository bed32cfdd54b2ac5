import { BlockList, isIP, isIPv4 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import { createClientIp, mayBeProxy } from './clientIp.ts'

const clientIp = createClientIp(['10.0.0.0/8', '192.0.2.1', '2001:db8:1::/48'])

describe('createClientIp', () => {
  test.each([
    ['no proxy', '203.0.113.9', undefined, '203.0.113.9'],
    ['an untrusted client that sends the header', '203.0.113.9', '10.0.0.2', '203.0.113.9'],
    ['a trusted proxy without the header', '10.0.0.1', undefined, '10.0.0.1'],
    ['a trusted proxy', '10.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['a forged address to the left', '10.0.0.1', '6.6.6.6, 203.0.113.7', '203.0.113.7'],
    ['a chain of trusted proxies', '10.0.0.1', '6.6.6.6, 203.0.113.7, 10.2.0.1, 192.0.2.1', '203.0.113.7'],
    ['only proxies', '10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'],
    ['a proxy with a mapped IPv4 address', '::ffff:10.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['an IPv6 proxy', '2001:db8:1::7', '2001:db8:2::8', '2001:db8:2::8'],
    ['an address with its port', '10.0.0.1', '203.0.113.7:4711', '203.0.113.7'],
    ['an IPv6 address with its port', '10.0.0.1', '[2001:db8:2::8]:4711', '2001:db8:2::8'],
    ['a name', '10.0.0.1', 'office', '10.0.0.1'],
    ['a malformed hop after a valid one', '10.0.0.1', '203.0.113.7, unknown, 10.0.0.2', '10.0.0.2'],
    ['an empty header', '10.0.0.1', '', '10.0.0.1'],
    ['an empty hop', '10.0.0.1', '203.0.113.7,', '10.0.0.1'],
    ['no peer, because the socket has closed', undefined, '203.0.113.7', undefined],
  ])('%s', (_, peer, forwarded, expected) => {
    expect(clientIp(peer, forwarded)).toBe(expected)
  })

  test('follows a chain of up to 32 proxies', () => {
    const chain = Array.from({ length: 1_000 }, (_, hop) => `10.0.${hop >> 8}.${hop & 255}`)
    expect(clientIp('10.9.9.9', chain.join(','))).toBe(chain.at(-32))
  })

  test('ignores the header without trusted proxies', () => {
    expect(createClientIp([])('10.0.0.1', '203.0.113.7')).toBe('10.0.0.1')
  })

  test.each([
    [
      '10.0.0.1/8',
      "trustedProxies[1] has bits set after the prefix: set them to zero, or remove the '/' and the length",
    ],
    [
      'proxy.internal',
      'trustedProxies[1] is not an IP address: use one such as 203.0.113.7 or 2001:db8::1, or a range such as 203.0.113.0/24',
    ],
  ])('rejects %s', (text, message) => {
    expect(() => createClientIp(['10.0.0.0/8', text])).toThrow(new TypeError(message))
  })

  test('agrees with a second implementation on any header, and never throws', () => {
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
      for (let index = hops.length - 1; index >= 0; index -= 1) {
        const before = hops[index - 1]
        if (before === undefined || !isTrusted(hops[index] ?? '') || isIP(before) === 0) return hops[index] ?? ''
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
        // Node accepts an IPv6 address with a zone. We do not, because a zone only has a meaning on one machine.
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
])('%s may be a proxy: %s', (peer, expected) => {
  expect(mayBeProxy(clientIp, peer)).toBe(expected)
})

test('without trusted proxies, only a process on this machine may be a proxy', () => {
  const own = createClientIp([])
  expect([mayBeProxy(own, '127.0.0.1'), mayBeProxy(own, '10.1.2.3')]).toEqual([true, false])
})
