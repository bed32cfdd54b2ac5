import type { FailureKind } from './failureKind.ts'

/** The JSON-RPC error object as the node or service sent it, with secrets masked. JSON-RPC 2.0 section 5.1. */
export interface RpcErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** Where a failure arose: on this side, on the way, at the access service, or in the node itself. */
export type FailureSource = 'client' | 'transport' | 'service' | 'node'

/** What a {@link KeyrailError} is made of. */
export interface KeyrailErrorFields {
  readonly kind: FailureKind
  readonly source: FailureSource
  /** Whether the same call may succeed if it is made again, and making it again does no harm. */
  readonly retryable: boolean
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined
  /** What to do about it. */
  readonly hint?: string | undefined
  /** The JSON-RPC method of the call. */
  readonly method?: string | undefined
  /** The printable form of the address: never holds the key. */
  readonly redactedUrl?: string | undefined
  /** The HTTP status, where an answer came. */
  readonly status?: number | undefined
  /** The error object that the node or service sent. */
  readonly rpcError?: RpcErrorObject | undefined
  /** The transaction that the failure is about, where its hash is known. */
  readonly transactionHash?: `0x${string}` | undefined
}

/**
 * The one error class of Keyrail. Branch on `kind`, not on the message.
 * It has no `cause` on purpose: what lies below (a `TypeError` of fetch, a socket error) can hold the address, and the address holds the key.
 *
 * @example
 * try {
 *   await client.eth_blockNumber()
 * } catch (error) {
 *   if (isKeyrailError(error, 'throttled')) console.log(error.retryAfterMs)
 * }
 */
export class KeyrailError extends Error implements KeyrailErrorFields {
  declare readonly kind: FailureKind
  declare readonly source: FailureSource
  declare readonly retryable: boolean
  declare readonly retryAfterMs: number | undefined
  declare readonly hint: string | undefined
  declare readonly method: string | undefined
  declare readonly redactedUrl: string | undefined
  declare readonly status: number | undefined
  declare readonly rpcError: RpcErrorObject | undefined
  declare readonly transactionHash: `0x${string}` | undefined

  /**
   * @param message - What happened, with no secret in it.
   * @param fields - What the failure is made of; copied onto the error.
   */
  constructor(message: string, fields: KeyrailErrorFields) {
    super(message)
    // A name that comes along, from something that only looks like a failure, cannot be assigned.
    const { name: _, ...own } = fields as KeyrailErrorFields & { readonly name?: unknown }
    Object.assign(this, own)
  }

  /** The brand that {@link isKeyrailError} goes by. */
  override get name(): 'KeyrailError' {
    return 'KeyrailError'
  }

  /** The fields and the message, for logs. */
  toJSON(): KeyrailErrorFields & { readonly message: string } {
    return { ...this, message: this.message }
  }
}

/**
 * Tells whether something caught is a Keyrail failure, and of which kind. Works by the error's `name`, so two copies of the package do no harm.
 *
 * @param error - Anything.
 * @param kind - Ask for this kind only.
 * @example
 * client.eth_chainId().catch((error) => {
 *   if (!isKeyrailError(error, 'network')) throw error
 * })
 */
export function isKeyrailError(error: unknown, kind?: FailureKind): error is KeyrailError {
  const held = Object(error) as KeyrailError
  return held.name === 'KeyrailError' && (kind === undefined || held.kind === kind)
}
