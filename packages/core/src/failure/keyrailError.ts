import type { FailureKind } from './failureKind.ts'

/** The JSON-RPC error object as the node or service sent it, with secrets masked. JSON-RPC 2.0 section 5.1. */
export interface RpcErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** Where a failure happened: in the client, in the connection, in the access service, or in the node. */
export type FailureSource = 'client' | 'transport' | 'service' | 'node'

/** The fields of a {@link KeyrailError}. */
export interface KeyrailErrorFields {
  readonly kind: FailureKind
  readonly source: FailureSource
  /** Whether the same call may succeed later, and repeating it does no harm. */
  readonly retryable: boolean
  /** How long the server says to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined
  /** How to fix it. Also the end of the message. */
  readonly hint?: string | undefined
  /** The JSON-RPC method of the call. */
  readonly method?: string | undefined
  /** The URL of the endpoint, without the key. */
  readonly redactedUrl?: string | undefined
  /** The HTTP status, if there was a response. */
  readonly status?: number | undefined
  /** The error object that the node or service sent. */
  readonly rpcError?: RpcErrorObject | undefined
  /** The hash of the transaction, if the call sent one and its hash is known. */
  readonly transactionHash?: `0x${string}` | undefined
}

/**
 * The error that every failed call rejects with. Branch on `kind`, not on the message.
 * It has no `cause` on purpose: the original error (a `TypeError` of fetch, a socket error) may hold the URL, and the URL holds the key.
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
   * @param message - What happened. It must not contain a secret.
   * @param fields - Copied onto the error.
   */
  constructor(message: string, fields: KeyrailErrorFields) {
    super(message)
    // `name` is read-only, so it is left out if the fields come from an object that has one.
    const { name: _, ...own } = fields as KeyrailErrorFields & { readonly name?: unknown }
    Object.assign(this, own)
  }

  /** {@link isKeyrailError} checks this name. */
  override get name(): 'KeyrailError' {
    return 'KeyrailError'
  }

  /** The fields and the message, for logs. */
  toJSON(): KeyrailErrorFields & { readonly message: string } {
    return { ...this, message: this.message }
  }
}

/**
 * Checks whether a caught value is a {@link KeyrailError}, optionally of one kind. It compares the error's `name`, so it also works if two copies
 * of the package are installed.
 *
 * @param error - Anything that was thrown.
 * @param kind - The kind to check for. @default any kind
 * @example
 * client.eth_chainId().catch((error) => {
 *   if (!isKeyrailError(error, 'network')) throw error
 * })
 */
export function isKeyrailError(error: unknown, kind?: FailureKind): error is KeyrailError {
  const fields = Object(error) as KeyrailError
  return fields.name === 'KeyrailError' && (kind === undefined || fields.kind === kind)
}
