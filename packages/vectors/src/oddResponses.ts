import oddResponseCases from '../oddResponses.json' with { type: 'json' }
import type { Implementation } from './failureCases.ts'
import type { Json } from './json.ts'

/**
 * How the end of a body is marked: by its length, by chunks, or by the end of the connection. `broken` and `brokenChunks` announce more bytes than
 * they send, and end the connection; `reset` does so with a TCP reset.
 */
export type Framing = 'length' | 'chunked' | 'close' | 'broken' | 'brokenChunks' | 'reset'

/** An odd HTTP response to one call, and its outcome. */
export interface OddResponseCase {
  readonly name: string
  readonly appliesTo: readonly (Implementation | 'gateway')[]
  /** @default "eth_chainId" */
  readonly method?: string
  /** The limit of the client, in bytes. @default the client's default */
  readonly maxResponseBytes?: number
  /** The body, sent as one text message over a WebSocket, has the same outcome. */
  readonly webSocket?: true
  readonly response: {
    readonly status: number
    /** @default "OK" */
    readonly reason?: string
    /** Names and values, in order. Those that frame the body are added. @default none */
    readonly headers?: readonly (readonly [name: string, value: string])[]
    /** The statuses of responses that come first, without headers. @default none */
    readonly interim?: readonly number[]
    /** The text of the body. `$id` is replaced by the id of the request. */
    readonly body?: string
    /** The bytes of the body, in place of `body`. The id of the request is 1. */
    readonly base64?: string
    /** The body is compressed with this coding. */
    readonly compress?: 'gzip' | 'deflate' | 'br'
    /** Only this many bytes of the body are sent, and announced. */
    readonly cut?: number
    /** @default "length" */
    readonly framing?: Framing
  }
  /** A result, or a failure. The members of the failure that are present are checked. */
  readonly expect:
    | { readonly result: Json }
    | {
        readonly kind: string
        readonly status?: number
        readonly retryAfterMs?: number
        readonly retryable?: boolean
      }
  readonly why: string
}

/** Odd responses, which every HTTP client must read alike: `oddResponses.json`. */
export const oddResponses: readonly OddResponseCase[] = oddResponseCases as unknown as readonly OddResponseCase[]
