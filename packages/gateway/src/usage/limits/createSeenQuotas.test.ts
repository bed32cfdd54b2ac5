import { expect, test } from 'vitest'
import { toUtcDay } from '../../lib/utcDay.ts'
import { createRedisQuota } from './redisQuota.ts'
import { createSeenQuotas } from './createSeenQuotas.ts'

const createState = () => createRedisQuota(toUtcDay(20_778))

test('lists the quotas of the last 5 to 10 seconds', () => {
  const seen = createSeenQuotas()
  expect([...seen.list()]).toEqual([])
  const [one, two, three, four] = [createState(), createState(), createState(), createState()]
  seen.add('1', one, 60_000)
  seen.add('2', two, 64_999)
  expect([...seen.list().keys()]).toEqual(['1', '2'])
  seen.add('3', three, 65_000)
  expect([...seen.list().keys()]).toEqual(['1', '2', '3'])
  expect(seen.list().get('1')).toBe(one)
  seen.add('4', four, 70_000)
  expect([...seen.list().keys()]).toEqual(['3', '4'])
})

test('lists a quota once, with its last state', () => {
  const seen = createSeenQuotas()
  const [old, last] = [createState(), createState()]
  seen.add('1', old, 60_000)
  seen.add('1', last, 66_000)
  expect(seen.list().size).toBe(1)
  expect(seen.list().get('1')).toBe(last)
})
