import { BlockList, isIP } from 'node:net'
import { cpuMs } from '@keyrail/core/test/cpuMs.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import { matchesIp, parseIpRange } from './ipRange.ts'
import { parseIp } from './parseIp.ts'

const allows = (entry: string, ip: string): boolean => {
  const parsed = parseIpRange(entry)
  if ('fix' in parsed) throw new Error(`${entry} ${parsed.fix}`)
  const bytes = parseIp(ip)
  return bytes !== undefined && matchesIp(parsed.rule, bytes)
}

describe('an entry of an IP allow list', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '203.0.113.8', false],
    ['203.0.113.0/24', '203.0.113.255', true],
    ['203.0.113.0/24', '203.0.114.0', false],
    ['203.0.113.128/25', '203.0.113.127', false],
    ['0.0.0.0/0', '255.255.255.255', true],
    ['203.0.113.7', '::ffff:203.0.113.7', true],
    ['203.0.113.0/24', '::FFFF:cb00:7107', true],
    ['::ffff:203.0.113.0/120', '203.0.113.9', true],
    ['::ffff:203.0.113.0/120', '203.0.114.9', false],
    // Only the mapped form is an IPv4 address.
    ['203.0.113.7', '::203.0.113.7', false],
    ['203.0.113.7', '64:ff9b::203.0.113.7', false],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/33', '2001:db8:8000::', false],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1', true],
    ['::/0', '2001:db8::1', true],
    ['::/0', '203.0.113.7', false],
    ['::/0', '::ffff:203.0.113.7', false],
    ['fe80::/10', 'fe80::1%eth0', false],
    ['0.0.0.0/0', '', false],
    ['0.0.0.0/0', '1.2.3.4, 5.6.7.8', false],
  ])('%s with a client at %s: %s', (entry, ip, expected) => {
    expect(allows(entry, ip)).toBe(expected)
  })

  test.each([
    ['', /is not an IP address/],
    ['localhost', /is not an IP address/],
    ['203.0.113', /is not an IP address/],
    ['203.0.113.07', /is not an IP address/],
    ['203.0.113.256', /is not an IP address/],
    ['0xcb.0.113.7', /is not an IP address/],
    [' 203.0.113.7', /is not an IP address/],
    ['203.0.113.7/', /invalid prefix length/],
    ['203.0.113.0/33', /from 0 to 32/],
    ['203.0.113.0/-1', /invalid prefix length/],
    ['203.0.113.0/024', /invalid prefix length/],
    ['203.0.113.0/24/24', /is not an IP address/],
    ['203.0.113.7/24', /set them to zero/],
    ['2001:db8::/129', /from 0 to 128/],
    ['2001:db8::1/64', /set them to zero/],
    ['::ffff:203.0.113.0/80', /set them to zero/],
    ['fe80::1%eth0', /has a zone/],
    ['1:2:3:4:5:6:7:8:9', /is not an IP address/],
    ['1::2::3', /is not an IP address/],
    ['1:2:3:4:5:6:7::8', /is not an IP address/],
    ['[::1]', /is not an IP address/],
  ])('rejects %s', (entry, fix) => {
    expect(parseIpRange(entry)).toEqual({ fix: expect.stringMatching(fix) })
  })

  test('rejects a text of any length quickly', () => {
    const reject = (): void => {
      for (const part of ['0', ':', '::', '1.', 'f:'])
        expect(parseIpRange(part.repeat(5_000_000))).toHaveProperty('fix')
    }
    expect(cpuMs(reject)).toBeLessThan(2_000)
  })

  const byte = fc.nat(255)
  const group = fc.oneof(
    fc.constantFrom('0', '0000', 'ffff', 'FFFF', 'db8'),
    fc.nat(0xffff).map((n) => n.toString(16)),
  )
  const ipv4 = fc.tuple(byte, byte, byte, byte).map((bytes) => bytes.join('.'))
  const ipv6 = fc.oneof(
    fc.array(group, { minLength: 8, maxLength: 8 }).map((groups) => groups.join(':')),
    fc
      .tuple(fc.array(group, { maxLength: 3 }), fc.array(group, { maxLength: 4 }))
      .map(([head, tail]) => `${head.join(':')}::${tail.join(':')}`),
    ipv4.map((text) => `::ffff:${text}`),
    fc.tuple(group, group, group, ipv4).map(([a, b, c, text]) => `${a}:${b}::${c}:${text}`),
  )
  const malformed = fc.oneof(
    fc.array(fc.constantFrom('::', ':', '.', '/', '0', '1', '255', '256', 'ffff', 'fffff', '%', 'x', '-1', ' '), {
      maxLength: 16,
    }),
    fc
      .tuple(fc.oneof(ipv4, ipv6), fc.constantFrom('.1', ':1', '%lo', ' ', '/', '::', '\n', '\0', '1'), fc.boolean())
      .map(([text, more, after]) => (after ? [text, more] : [more, text])),
  )
  /** 30 % are addresses. */
  const texts = fc.oneof(
    { weight: 15, arbitrary: ipv4 },
    { weight: 15, arbitrary: ipv6 },
    { weight: 70, arbitrary: malformed.map((parts) => parts.join('')) },
  )

  test('accepts the same addresses as node:net, except those with zones', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const expected = isIP(text) !== 0 && !text.includes('%')
        expect(parseIp(text) !== undefined).toBe(expected)
        expect('rule' in parseIpRange(text)).toBe(expected || isValidRange(text))
      }),
      { numRuns: fuzzCases(2_000) },
    )
  })

  /** The address as a number, computed independently: the URL parser writes an IPv6 address in its shortest form. */
  const toBigInt = (text: string): bigint => {
    if (isIP(text) === 4) return text.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n)
    const short = new URL(`http://[${text}]`).hostname.slice(1, -1)
    const [head = '', tail] = short.split('::')
    const left = head === '' ? [] : head.split(':')
    const right = tail === undefined || tail === '' ? [] : tail.split(':')
    const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0')
    return [...left, ...zeros, ...right].reduce((sum, part) => sum * 65_536n + BigInt(`0x${part}`), 0n)
  }

  const isValidRange = (text: string): boolean => {
    const [address = '', prefix, ...more] = text.split('/')
    const bits = isIP(address) === 4 ? 32n : 128n
    if (isIP(address) === 0 || address.includes('%') || prefix === undefined || more.length > 0) return false
    const length = Number(prefix)
    if (String(length) !== prefix || !Number.isInteger(length) || length < 0 || length > bits) return false
    return toBigInt(address) % (1n << (bits - BigInt(prefix))) === 0n
  }

  test('agrees with BlockList on which addresses are in the range', () => {
    /** A range, and an address that shares the given number of bits with its start. */
    const cases = fc.tuple(
      fc.oneof(ipv4, ipv6),
      fc.nat(128),
      fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }),
      fc.nat(128),
    )
    fc.assert(
      fc.property(cases, ([address, wanted, noise, shared]) => {
        const family = isIP(address)
        const width = family === 4 ? 32 : 128
        const bits = Math.min(wanted, width)
        const start = (toBigInt(address) >> BigInt(width - bits)) << BigInt(width - bits)
        const caller = start ^ BigInt.asUintN(width - Math.min(shared, width), noise)
        const write = (value: bigint): string =>
          family === 4
            ? [24n, 16n, 8n, 0n].map((by) => (value >> by) & 255n).join('.')
            : Array.from({ length: 8 }, (_, index) =>
                ((value >> BigInt(112 - 16 * index)) & 65_535n).toString(16),
              ).join(':')
        const list = new BlockList()
        const name = family === 4 ? 'ipv4' : 'ipv6'
        list.addSubnet(write(start), bits, name)
        // We differ on purpose on whether a mapped address is in a wider IPv6 range: see the table above.
        const isMapped = family === 6 && caller >> 32n === 0xffffn
        fc.pre(!(isMapped && bits < 96))
        const expected = list.check(write(caller), name)
        expect(allows(`${write(start)}/${bits}`, write(caller))).toBe(expected)
        if (family === 4) expect(allows(`${write(start)}/${bits}`, `::ffff:${write(caller)}`)).toBe(expected)
      }),
      { numRuns: fuzzCases(2_000) },
    )
  })
})
