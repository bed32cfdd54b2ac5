import { adapters } from '@keyrail/vectors'
import { asRevert, isKeyrailError } from '../src/index.ts'
import type { Face, ShownRevert, Subject, Target } from './adapters/subject.ts'

/** A client that makes any call, as far as it matters here. */
export interface Requester {
  readonly request: (
    args: { readonly method: string; readonly params: readonly unknown[] },
    options?: { readonly signal?: AbortSignal | undefined },
  ) => Promise<unknown>
  readonly close: () => void
}

/** What a Keyrail failure shows of a revert. */
export const revertOfFailure = (error: unknown): ShownRevert | undefined =>
  isKeyrailError(error, 'revert')
    ? { data: String(error.rpcError ? asRevert(error.rpcError).data : undefined) }
    : undefined

/** The face of a client that knows requests and nothing else. */
export function requestFace(client: Requester, signal: AbortSignal | undefined): Face {
  const { call, address } = adapters.node.contract
  const request: Face['request'] = (method, params) => client.request({ method, params })
  return {
    blockNumber: () => request('eth_blockNumber', []),
    balance: (account) => request('eth_getBalance', [account, 'latest']),
    contractRead: () => request('eth_call', [{ to: address, data: call }, 'latest']),
    send: (raw) => request('eth_sendRawTransaction', [raw]),
    request,
    abortable: () => client.request({ method: 'eth_blockNumber', params: [] }, { signal }),
    revertOf: revertOfFailure,
    held: client,
    close: () => client.close(),
  }
}

/** A client of Keyrail's own: its decoded reads, and its `request`. */
export function requestSubject(
  name: string,
  open: (target: Target) => {
    readonly client: Requester
    readonly reads: Pick<Face, 'blockNumber' | 'balance' | 'contractRead' | 'send'>
  },
): Subject {
  const raw = (target: Target): Face => requestFace(open(target).client, target.signal)
  const library = (target: Target): Face => {
    const { client, reads } = open(target)
    return { ...requestFace(client, target.signal), ...reads }
  }
  return { name, open: { library, raw } }
}
