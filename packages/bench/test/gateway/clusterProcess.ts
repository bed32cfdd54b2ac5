import { startPostgres } from '@keyrail/gateway/test/storage/startPostgres.ts'
import { startRedis } from '@keyrail/gateway/test/usage/startRedis.ts'
import { openService } from '../../src/gateway/openService.ts'
import { reportUsage } from '../../src/gateway/reportUsage.ts'

// The target of a service on PostgreSQL and Redis. Their own processor time does not count as the target's.

const [, , , upstream = ''] = process.argv
const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
process.on('disconnect', () => void Promise.all([postgres.stop(), redis.stop()]).finally(() => process.exit()))
reportUsage(await openService(upstream, { databaseUrl: await postgres.createDatabase(), redisUrl: redis.url }), {
  exits: false,
})
