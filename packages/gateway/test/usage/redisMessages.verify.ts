import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { createServerSecret } from '../../src/lib/secrets/serverSecret.ts'
import { createRedisMessages } from '../../src/storage/redis/createRedisMessages.ts'
import { createSharedChecks } from '../../src/storage/redis/createSharedChecks.ts'
import type { SharedCheck } from '../../src/storage/redis/createSharedChecks.ts'
import { openRedis } from '../../src/storage/redis/openRedis.ts'
import { startTcpProxy } from '../startTcpProxy.ts'
import { startRedis } from './startRedis.ts'
import type { TestRedis } from './startRedis.ts'

const secret = createServerSecret(randomBytes(32).toString('hex'))

describe('with Redis', needs('redis-server'), () => {
  let server: TestRedis
  const toStop: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    server = await startRedis()
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    server.resume()
    for (const stop of toStop.splice(0).toReversed()) await stop()
  })
  afterAll(() => server.stop())

  /** Opens the connections of an instance, once its messages arrive. */
  const open = async ({ listenAt }: { listenAt?: number } = {}) => {
    const link = openRedis(server.url)
    toStop.push(link.close)
    if (listenAt !== undefined) {
      const url = new URL(server.url)
      url.port = String(listenAt)
      const connect = (): Redis =>
        new Redis(url.href, { lazyConnect: true, autoResubscribe: false, retryStrategy: () => 10 })
      vi.spyOn(link.client as Redis, 'duplicate').mockImplementation(connect)
    }
    const messages = createRedisMessages(link)
    toStop.push(messages.close)
    const states: boolean[] = []
    messages.onListening(() => states.push(messages.isListening()))
    await expect.poll(() => messages.isListening()).toBe(true)
    return { link, messages, states, checks: createSharedChecks({ redis: link, messages, secret }) }
  }

  describe('messages', () => {
    test('reach all instances, by channel', async () => {
      const [one, other] = [await open(), await open()]
      const received: string[] = []
      for (const [index, { messages }] of [one, other].entries())
        for (const channel of ['kr:changes', 'kr:checks'] as const)
          messages.subscribe(channel, (message) => received.push(`${index} ${channel} ${message}`))
      one.messages.publish('kr:changes', 'a')
      other.messages.publish('kr:checks', 'b')
      const expected = ['0 kr:changes a', '0 kr:checks b', '1 kr:changes a', '1 kr:checks b']
      await expect.poll(() => received.toSorted()).toEqual(expected)
    })

    test('stop when Redis is lost or hangs, which is reported, and start again', async () => {
      const { messages, states } = await open()
      expect(states).toEqual([true])
      await server.kill()
      await expect.poll(() => messages.isListening()).toBe(false)
      await server.start()
      await expect.poll(() => messages.isListening()).toBe(true)
      server.hang()
      await expect.poll(() => messages.isListening()).toBe(false)
      server.resume()
      await expect.poll(() => messages.isListening()).toBe(true)
      // Messages that waited while Redis hung can arrive before the connection is replaced, so there may be more changes.
      expect(states.length).toBeGreaterThanOrEqual(5)
      expect(states).toEqual(states.map((_, index) => index % 2 === 0))
    })

    test('start again after the subscription led to a Redis where nothing is published, such as a former master', async () => {
      const former = await startRedis()
      toStop.push(former.stop)
      const admin = new Redis(former.url)
      await admin.config('SET', 'requirepass', server.password)
      toStop.push(() => admin.quit())
      const way = await startTcpProxy(Number(new URL(server.url).port))
      toStop.push(way.close)
      const { messages } = await open({ listenAt: way.port })
      const countListeners = async (): Promise<number> =>
        String(await admin.call('CLIENT', 'LIST', 'TYPE', 'pubsub'))
          .split('\n')
          .filter((line) => line.includes('id=')).length
      way.switchTo(Number(new URL(former.url).port))
      way.cut()
      way.fix()
      await expect.poll(countListeners).toBe(1)
      expect(messages.isListening()).toBe(false)
      // The connection to the former master stays open until the instance notices that its own messages do not arrive.
      way.switchTo(Number(new URL(server.url).port))
      await expect.poll(() => messages.isListening()).toBe(true)
      expect(await countListeners()).toBe(0)
    })
  })

  describe('shared checks', () => {
    /** Retries: an instance that gets no reply in time runs the check too. */
    const expectOneClaim = (checks: readonly SharedCheck[]): Promise<void> =>
      expect.poll(async () => (await Promise.all(checks.map(({ claim }) => claim()))).filter(Boolean)).toEqual([true])

    test('one instance claims a check, and the others get its results', async () => {
      const [one, other] = [await open(), await open()]
      const received: unknown[] = []
      const mine = one.checks.join('https://user:hunter2@node.example', (result) => received.push(['one', result]))
      const theirs = other.checks.join('https://user:hunter2@node.example', (result) =>
        received.push(['other', result]),
      )
      other.checks.join('another', (result) => received.push(['another', result]))
      expect(mine.id).toBe(theirs.id)
      await expectOneClaim([mine, theirs])
      mine.publish([1, null])
      await expect.poll(() => received).toEqual([['other', [1, null]]])
      // A claim expires, in case that its owner was killed.
      await expect.poll(() => theirs.claim()).toBe(true)
      const names = await one.link.client.keys('kr:check:*')
      expect(names).toEqual([`kr:check:${mine.id}`])
      theirs.leave()
      mine.publish(2)
      theirs.publish(3)
      await expect.poll(() => received.at(-1)).toEqual(['one', 3])
      expect(received).toHaveLength(2)
    })

    test('messages of another form are ignored', async () => {
      const { link, checks } = await open()
      const received: unknown[] = []
      const { id } = checks.join('node', (result) => received.push(result))
      for (const message of [
        '',
        '{',
        'null',
        '{"a":1}',
        '[]',
        `[1,"${id}",1]`,
        `["other",1,1]`,
        '["other","unknown",1]',
        `["other","${id}","${'a'.repeat(1_000_000)}"]`,
      ])
        await link.client.publish('kr:checks', message)
      await link.client.publish('kr:checks', `["other","${id}",{"any":"form"}]`)
      await expect.poll(() => received).toEqual([{ any: 'form' }])
    })

    test('while Redis is lost or hangs, each instance runs all checks', async () => {
      const [one, other] = [await open(), await open()]
      const checks = [one.checks.join('node', () => {}), other.checks.join('node', () => {})]
      const claim = () => Promise.all(checks.map((check) => check.claim()))
      await expectOneClaim(checks)
      server.hang()
      expect(await claim()).toEqual([true, true])
      server.resume()
      await server.kill()
      expect(await claim()).toEqual([true, true])
      await expect.poll(() => one.checks.isTrusted()).toBe(false)
      await server.start()
      await expect.poll(() => one.checks.isTrusted() && other.checks.isTrusted()).toBe(true)
      await expectOneClaim(checks)
    })

    test('an instance whose result differs from that of others runs all checks, and publishes none, until it no longer does', async () => {
      const [one, other] = [await open(), await open()]
      const [node, another] = [one.checks.join('node', () => {}), one.checks.join('another', () => {})]
      const received: unknown[] = []
      const theirs = other.checks.join('another', (result) => received.push(result))
      node.setDisputed(true)
      for (let claim = 0; claim < 2; claim += 1) expect(await another.claim()).toBe(true)
      expect(one.checks.isTrusted()).toBe(false)
      another.publish(1)
      node.setDisputed(false)
      another.publish(2)
      await expect.poll(() => received).toEqual([2])
      expect(one.checks.isTrusted()).toBe(true)
      await expectOneClaim([another, theirs])
      node.setDisputed(true)
      node.leave()
      expect(one.checks.isTrusted()).toBe(true)
    })
  })
})
