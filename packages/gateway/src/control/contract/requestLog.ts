import { z } from 'zod'
import type { Network } from '../../lib/network.ts'
import { networkName } from './networks.ts'
import { pageMembers } from './page.ts'
import type { PageQuery } from './page.ts'
import { idText, timeText } from './texts.ts'

/** A request in the log: one over HTTP, or one message of a WebSocket. A batch is one request with several calls. */
export interface RequestEntryView {
  /** Later requests have greater ids. */
  readonly id: string
  /** When the response was ready. */
  readonly at: string
  /**
   * The method; of a batch, that of the first call that failed, else of the first that reverted, else of the first call. An unknown method by the name that the caller
   * sent, cut to 64 characters. `null` if the request was rejected before its body was read, or had no method.
   */
  readonly method: string | null
  /** As in the metrics: `succeeded`, `reverted`, `nodeError`, `upstreamFailed`, `disconnected`, or a rejection reason. Of a batch, that of the call in `method`. */
  readonly outcome: string
  /** The JSON-RPC error code; `null` without an error. */
  readonly code: number | null
  /** The message of the error, cut to 200 characters; of a revert, its decoded reason. `null` without an error. */
  readonly message: string | null
  /** The HTTP status; 499 if the caller disconnected before the response. A message of a WebSocket has the one that it would have over HTTP. */
  readonly status: number
  /** From the header of the request until its response was ready. */
  readonly durationMs: number
  readonly network: Network
  /** The `X-Request-Id` of the response. The messages of a WebSocket have one each. */
  readonly requestId: string
  /** How many calls the request had: more than 1 in a batch. */
  readonly calls: number
  readonly failedCalls: number
  /** The last four characters of the key, which differ between a rotated key and the new one; `null` if a JWT identified the app. */
  readonly keyEnding: string | null
  /** The `Origin` header, cut to 200 characters; `null` if there was none. */
  readonly origin: string | null
  /** The block of the caller's IP address, such as `203.0.113.0/24` or `2001:db8:1::/48`; `null` if unknown. */
  readonly ipBlock: string | null
  /** The size of the request body; `null` if it was not read. */
  readonly requestBytes: number | null
  /** The size of the response body before compression; `null` if it was streamed, or not sent. */
  readonly responseBytes: number | null
  readonly transport: 'http' | 'websocket'
}

/** A request in the log, with excerpts of its content. */
export interface RequestDetailsView extends RequestEntryView {
  /** The first 1,024 characters of the params of the call in `method`, as the caller sent them; `null` if they were not recorded. */
  readonly params: string | null
  /** The first 1,024 characters of the result or error of the same call; `null` if it was not recorded. */
  readonly response: string | null
}

/** Selects requests in the log. */
export interface RequestsQuery extends PageQuery {
  /**
   * Only requests newer than the one with this id. Instances write requests some seconds late, so it also returns those of the 5 seconds before:
   * skip the ids that you have.
   */
  readonly after?: string
  readonly method?: string
  /** An outcome, or `failed` for all except `succeeded` and `reverted`. */
  readonly outcome?: string
  readonly network?: Network
  /** The last four characters of the key. */
  readonly keyEnding?: string
}

/** Selects requests of the log for a CSV table. */
export type RequestsCsvQuery = Pick<RequestsQuery, 'method' | 'outcome' | 'network' | 'keyEnding'>

const count = z.int().min(0)
const entryMembers = {
  id: idText('log'),
  at: timeText,
  method: z.string().nullable(),
  outcome: z.string(),
  code: z.int().nullable(),
  message: z.string().nullable(),
  status: z.int(),
  durationMs: z.number().min(0),
  network: z.string(),
  requestId: z.string(),
  calls: count,
  failedCalls: count,
  keyEnding: z.string().nullable(),
  origin: z.string().nullable(),
  ipBlock: z.string().nullable(),
  requestBytes: count.nullable(),
  responseBytes: count.nullable(),
  transport: z.enum(['http', 'websocket']),
}

/** The schema of `RequestEntryView`. */
export const requestEntry: z.ZodType<RequestEntryView> = z.strictObject(entryMembers).meta({ id: 'RequestEntry' })

/** The schema of `RequestDetailsView`. */
export const requestDetails: z.ZodType<RequestDetailsView> = z
  .strictObject({ ...entryMembers, params: z.string().nullable(), response: z.string().nullable() })
  .meta({ id: 'RequestDetails' })

const hasNoControl = (text: string): boolean => !/[\p{Cc}\p{Cs}]/u.test(text)

const filters = {
  method: z
    .string()
    .max(64, { error: 'must have at most 64 characters' })
    .refine(hasNoControl, { error: 'must not contain control characters' })
    .exactOptional(),
  outcome: z
    .string()
    .regex(/^[A-Za-z_]{1,40}$/, { error: 'must be an outcome, such as "rate_limited", or "failed"' })
    .exactOptional(),
  network: networkName.exactOptional(),
  keyEnding: z
    .string()
    .regex(/^[0-9A-Za-z]{4}$/, { error: 'must be the last four characters of a key' })
    .exactOptional(),
}

/** The schema of `RequestsQuery`. */
export const requestsQuery: z.ZodType<RequestsQuery, unknown> = z.strictObject({
  ...pageMembers,
  after: idText('log').exactOptional(),
  ...filters,
})

/** The schema of `RequestsCsvQuery`. */
export const requestsCsvQuery: z.ZodType<RequestsCsvQuery, unknown> = z.strictObject(filters)
