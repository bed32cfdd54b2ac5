import { adapters } from '@keyrail/vectors'
import { isKeyrailError } from '../src/index.ts'
import type { Hex } from '../src/index.ts'
import type { Face, ShownRevert, Subject, Target } from './adapters/subject.ts'
import { toRevert } from '../src/failure/toRevert.ts'

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
    ? { data: String(error.rpcError ? toRevert(error.rpcError).data : undefined) }
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

/** The decoded reads of `@keyrail/fetch`, which the core may not import: given by whoever tests it. */
export interface DecodedReads<C> {
  readonly getBlockNumber: (client: C) => Promise<unknown>
  readonly getBalance: (client: C, options: { readonly address: Hex }) => Promise<unknown>
  readonly call: (client: C, options: { readonly to: Hex; readonly data: Hex }) => Promise<unknown>
  readonly sendRawTransaction: (client: C, options: { readonly transaction: Hex }) => Promise<unknown>
}

/** A client of Keyrail's own: its decoded reads, and its `request`. */
export function requestSubject<C extends { readonly close: () => void }>(
  name: string,
  open: (target: Target) => C,
  reads: DecodedReads<C>,
): Subject {
  const { contract } = adapters.node
  const faceOf = (client: C, target: Target): Face => requestFace(client as unknown as Requester, target.signal)
  const raw = (target: Target): Face => faceOf(open(target), target)
  const library = (target: Target): Face => {
    const client = open(target)
    return {
      ...faceOf(client, target),
      blockNumber: () => reads.getBlockNumber(client),
      balance: (address) => reads.getBalance(client, { address: address as Hex }),
      contractRead: () => reads.call(client, { to: contract.address as Hex, data: contract.call as Hex }),
      send: (transaction) => reads.sendRawTransaction(client, { transaction: transaction as Hex }),
    }
  }
  return { name, open: { library, raw } }
}
