import { expect, test } from 'vitest'
import { needs } from '../../../../scripts/externalPrograms.ts'
import { openRedis } from '../../src/storage/redis/openRedis.ts'
import { startRedis } from '../usage/startRedis.ts'

test(
  'a Redis that does not respond for 10 seconds is disconnected, as if its host had vanished',
  needs('redis-server'),
  async () => {
    const server = await startRedis()
    const link = openRedis(server.url)
    try {
      await expect.poll(() => link.isReady()).toBe(true)
      server.hang()
      const startedAt = performance.now()
      await expect(link.client.set('key', 'value')).rejects.toThrow('max retries per request')
      expect(performance.now() - startedAt).toBeGreaterThan(9_000)
      expect(link.isReady()).toBe(false)
      server.resume()
      await expect.poll(() => link.isReady()).toBe(true)
      await expect(link.ping()).resolves.toBeUndefined()
    } finally {
      await link.close()
      await server.stop()
    }
  },
)
