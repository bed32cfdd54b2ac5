import type { CommonRedisOptions } from 'ioredis'

const maxRetryDelayMs = 1_000

/** How long to wait before the next attempt to connect, in milliseconds. */
export const getRetryDelay = (attempt: number): number => Math.min(50 * 2 ** Math.min(attempt, 10), maxRetryDelayMs)

/** Options of every connection: a command that is in flight when the connection is lost fails, and is never sent twice. */
export const connectionOptions = {
  lazyConnect: true,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  connectTimeout: 5_000,
  // A host that vanished closes no connection. The time is long enough for a Redis that is only slow.
  socketTimeout: 10_000,
  connectionName: 'keyrail',
  // A master that became a replica: connect to the new one. The command is not sent again.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
} satisfies CommonRedisOptions
