import type { FailureKind } from '@keyrail/core'
import { describeValue, invalidInput } from '../invalidInput.ts'
import table from './providers.json' with { type: 'json' }

/** The provider whose limits and error responses a mock node imitates. `node` is a bare node, without a provider in front. */
export type ProviderName = 'keyrail' | 'alchemy' | 'infura' | 'quicknode' | 'ankr' | 'drpc' | 'node'

/** An error response of a provider. */
export interface ProviderError {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** A plain text body; used instead of `error`. */
  readonly text?: string
  /** A JSON-RPC error. `$METHOD` in the message is replaced by the method of the call. */
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
  /** Whether the error rejects the whole request, with id null. Otherwise a batch gets status 200 and only the failing calls get the error. */
  readonly rejectsWholeRequest?: boolean
}

/** How a provider behaves. */
export interface ProviderBehavior {
  /** Error responses by failure kind, the most common one first. */
  readonly errors: Readonly<Partial<Record<FailureKind, readonly ProviderError[]>>>
  /** The maximum number of calls in a batch. */
  readonly maxBatch?: number
  /** The maximum block range of `eth_getLogs`. */
  readonly maxLogBlocks?: number
  /** The maximum number of logs in a response. */
  readonly maxLogs?: number
  /** Returns the responses to a batch in reverse order, which JSON-RPC allows. */
  readonly reversesBatches?: boolean
}

/** An error with which Keyrail's gateway rejects a whole request. */
export const serviceError = (status: number, code: number, message: string, reason: string): ProviderError => ({
  status,
  error: { code, message, data: { reason, requestId: 'req-0001' } },
  rejectsWholeRequest: true,
})

/** The HTML page of a proxy that cannot reach its server. */
export const badGateway =
  '<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center></body></html>'

/**
 * All providers by name. `node` has the errors of nodes, which providers pass through, and of proxies.
 * The mock node of the Python package uses the same file. A test compares the wordings with the cases in packages/vectors.
 */
export const providers = table as Readonly<Record<ProviderName, ProviderBehavior>>

/** @throws {KeyrailError} kind `invalidRequest` if there is no such provider. */
export function checkProvider(provider: ProviderName): void {
  if (!Object.hasOwn(providers, provider))
    throw invalidInput(`Unknown provider ${describeValue(provider)}. Use one of ${Object.keys(providers).join(', ')}`)
}

/**
 * Finds the error response of a provider for a failure kind. Falls back to the response of a bare node.
 *
 * @param status - The HTTP status to use, if the provider has several responses for the kind.
 */
export function providerError(provider: ProviderName, kind: FailureKind, status?: number): ProviderError | undefined {
  const known = providers[provider].errors[kind] ?? providers.node.errors[kind] ?? []
  return (
    known.find((error) => status === undefined || error.status === status) ??
    (known[0] && { ...known[0], status: status ?? known[0].status })
  )
}
