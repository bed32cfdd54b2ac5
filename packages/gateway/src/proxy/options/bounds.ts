import type { z } from 'zod'
import { maxTimerMs, object, whole } from './fields.ts'

/** A body becomes one string, and Node's longest string has 512 MiB. */
const maxBytes = 256 * 1024 * 1024
/** A day. Node adds a second to it, so that the longest timer would overflow. */
const maxKeepAliveMs = 86_400_000
const defaultHeadersTimeoutMs = 20_000

const bound = (min: number, max: number, defaultValue: number, text: string) =>
  whole(min, max).default(defaultValue).describe(text)

const boundsShape = {
  maxBodyBytes: bound(1, maxBytes, 2 * 1024 * 1024, 'The largest request body.'),
  maxBatchCalls: bound(1, 100_000, 1_000, 'Most calls in a batch.'),
  maxJsonDepth: bound(8, 1_000, 64, 'How deep arrays and objects in a request body may be nested.'),
  maxResponseBytes: bound(1, maxBytes, 64 * 1024 * 1024, "Most bytes of the nodes' responses to one request."),
  upstreamTimeoutMs: bound(1, maxTimerMs, 30_000, 'How long the nodes may take for one call, including retries.'),
  headersTimeoutMs: whole(1, maxTimerMs)
    .exactOptional()
    .describe(
      `How long a request's headers may take to arrive. At most \`requestTimeoutMs\`. Default: \`${defaultHeadersTimeoutMs}\`, or \`requestTimeoutMs\` if that is less.`,
    ),
  requestTimeoutMs: bound(1, maxTimerMs, 60_000, 'How long a whole request may take to arrive.'),
  writeTimeoutMs: bound(
    1,
    maxTimerMs,
    30_000,
    'How long a caller may take to read a response, plus a second for each 20 kB.',
  ),
  keepAliveTimeoutMs: bound(
    1_000,
    maxKeepAliveMs,
    65_000,
    'How long a connection stays open without a request. Must be longer than the proxy in front keeps idle connections: see [idle connections](../service/operating.md#idle-connections).',
  ),
  maxBufferedBytes: bound(
    1,
    Number.MAX_SAFE_INTEGER,
    512 * 1024 * 1024,
    "Most bytes that requests, WebSockets, subscriptions and the service's own reads hold in memory. More are rejected as `upstream_busy`.",
  ),
  maxConnections: bound(1, 1_000_000, 16_384, 'Most open connections. An IP address has at most as many as are left.'),
  maxCacheBytes: bound(
    0,
    maxBytes,
    32 * 1024 * 1024,
    "The size of each network's cache of final responses. 0 turns it off.",
  ),
  maxFilters: bound(
    1,
    100_000,
    100,
    'Most filters of a key on a network. One more removes the least recently used one.',
  ),
}

/** The schema of `bounds`. */
export const bounds = object(boundsShape)
  .refine(({ headersTimeoutMs = 0, requestTimeoutMs }) => headersTimeoutMs <= requestTimeoutMs, {
    path: ['headersTimeoutMs'],
    error: 'must be at most requestTimeoutMs, which includes it',
  })
  .transform(({ headersTimeoutMs, ...given }) => ({
    ...given,
    headersTimeoutMs: headersTimeoutMs ?? Math.min(defaultHeadersTimeoutMs, given.requestTimeoutMs),
  }))
  .prefault({})

type OwnBound = 'maxBatchCalls' | 'maxResponseBytes' | 'upstreamTimeoutMs' | 'maxCacheBytes' | 'maxFilters'

const toOwn = (name: OwnBound) =>
  boundsShape[name]
    .removeDefault()
    .exactOptional()
    .describe(`${boundsShape[name].description} Default: \`bounds.${name}\`.`)

/** The bounds that a network can have of its own. The others apply to a connection or to the process, or before the network is known. */
const ownShape = {
  maxBatchCalls: toOwn('maxBatchCalls'),
  maxResponseBytes: toOwn('maxResponseBytes'),
  upstreamTimeoutMs: toOwn('upstreamTimeoutMs'),
  maxCacheBytes: toOwn('maxCacheBytes'),
  maxFilters: toOwn('maxFilters'),
}

/** Where a bound belongs that is misplaced in the limits or bounds of a network. */
export const boundsPlaces: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(boundsShape).map((name) => [
    name,
    name in ownShape ? 'the bounds of the network' : 'the bounds of the config, because it holds for all networks',
  ]),
)

/** The schema of the `bounds` of a network. */
export const networkBounds = object(ownShape, boundsPlaces)

/** Size and time limits of requests. */
export type Bounds = Readonly<z.output<typeof bounds>>

/** The bounds of one network. */
export type NetworkBounds = Pick<Bounds, OwnBound>
