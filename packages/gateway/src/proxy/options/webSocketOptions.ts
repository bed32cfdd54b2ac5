import type { z } from 'zod'
import { flag, maxTimerMs, object, whole } from './fields.ts'

/** The schema of the options of WebSockets. */
export const webSocket = object({
  enabled: flag().default(true).describe('Whether network URLs accept WebSockets.'),
  maxConnectionsPerKey: whole(1, 1_000_000).default(200).describe('Most open connections with one key.'),
  maxConnectionsPerUser: whole(1, 1_000_000).default(500).describe('Most open connections with all keys of a user.'),
  maxConnectionsPerIp: whole(1, 1_000_000)
    .default(200)
    .describe('Most open connections from one IP address (IPv6: a /64). Does not apply to this machine.'),
  maxInFlight: whole(1, 10_000)
    .default(64)
    .describe('Requests of one connection that run at the same time. Later ones wait.'),
  maxBufferedBytes: whole(1, Number.MAX_SAFE_INTEGER)
    .default(8 * 1024 * 1024)
    .describe(
      'Most bytes of unread notifications of one connection: above it, the connection is closed. Its filters can take as many bytes again.',
    ),
  pingMs: whole(1_000, maxTimerMs)
    .default(25_000)
    .describe('How often the service sends a ping. A connection without a response before the next ping is closed.'),
  maxSubscriptions: whole(1, 100_000).default(1_000).describe('Most subscriptions of one connection.'),
  maxNotificationsPerBlock: whole(1, 10_000_000)
    .default(20_000)
    .describe('Most notifications that one connection gets for one block.'),
  fullTransactions: flag()
    .default(true)
    .describe('Whether `newPendingTransactions` can deliver whole transactions. Each of them is a call to a node.'),
  maxAddresses: whole(1, 100_000).default(1_000).describe('Most addresses of one filter.'),
  maxTopics: whole(1, 100_000).default(1_000).describe('Most topics of one filter.'),
}).prefault({})

/** WebSockets: whether there are any, and their limits. */
export type WebSocketOptions = Readonly<z.output<typeof webSocket>>
