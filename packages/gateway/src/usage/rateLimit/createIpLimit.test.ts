import { describe, expect, test } from 'vitest'
import { createIpLimit } from './createIpLimit.ts'

/** Whether two IPs share one bucket. */
const share = (one: string | undefined, other: string | undefined): boolean => {
  const limit = createIpLimit({ perSecond: 1, now: () => 0 })
  limit.take(one)
  return limit.take(other).granted === 0
}

describe('createIpLimit', () => {
  test.each<[string | undefined, string | undefined, boolean]>([
    ['192.0.2.1', '192.0.2.1', true],
    ['192.0.2.1', '192.0.2.2', false],
    ['192.0.2.1', '::ffff:192.0.2.1', true],
    ['192.0.2.1', '::ffff:c000:201', true],
    ['2001:db8::1', '2001:db8::ffff:ffff:ffff:ffff', true],
    ['2001:db8::1', '2001:DB8:0:0:1::', true],
    ['2001:db8::1', '2001:db8:0:1::1', false],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.2', false],
    // Not a mapped address: its first 64 bits equal those of ::1.
    ['::192.0.2.1', '::1', true],
    // The four bytes of an IPv4 address are not the prefix of an IPv6 address.
    ['32.1.13.184', '2001:db8::1', false],
    [undefined, 'no ip', true],
    ['fe80::1%eth0', 'fe80::2%eth1', true],
  ])('%s and %s share a bucket: %s', (one, other, expected) => {
    expect(share(one, other)).toBe(expected)
  })

  test('an IP has a separate bucket for each app, and reading one takes nothing', () => {
    const limit = createIpLimit({ perSecond: 2, now: () => 0 })
    const take = (app?: string, calls?: number) =>
      limit.take('192.0.2.1', { ...(app && { app }), ...(calls === 0 && { calls }) })
    expect([take('a').granted, take('a').granted, take('a').granted]).toEqual([1, 1, 0])
    expect([take('a', 0).remaining, take('b', 0).remaining, take('b', 0).remaining]).toEqual([0, 2, 2])
    expect([take('b').granted, take().granted, limit.take('192.0.2.2', { app: 'a' }).granted]).toEqual([1, 1, 1])
  })

  test.each([
    [{ perSecond: 0 }, 'perSecond'],
    [{ perSecond: 1.5 }, 'perSecond'],
    [{ perSecond: Number.NaN }, 'perSecond'],
    [{ perSecond: 1_000_001 }, 'perSecond'],
    [{ perSecond: 1, burst: 0 }, 'burst'],
  ])('rejects %j and names the option', (options, name) => {
    expect(() => createIpLimit(options)).toThrow(name)
  })

  test('is bounded', () => {
    const limit = createIpLimit({ perSecond: 1, maxKeys: 50, now: () => 0 })
    for (let index = 0; index < 1_000; index += 1) limit.take(`10.0.${index >> 8}.${index & 255}`)
    expect(limit.size).toBeLessThanOrEqual(50)
  })
})
