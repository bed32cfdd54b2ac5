import { adapters } from '@keyrail/vectors'
import { isKeyrailError } from '../src/index.ts'
import type { Hex } from '../src/index.ts'
import type { ShownRevert, Subject, Target, TestClient } from './adapters/subject.ts'
import { toRevert } from '../src/failure/toRevert.ts'

/** The part of a client that sends any call. */
export interface Requester {
  readonly request: (
    args: { readonly method: string; readonly params: readonly unknown[] },
    options?: { readonly signal?: AbortSignal | undefined },
  ) => Promise<unknown>
  readonly close: () => void
}

/** Returns the revert data of a `KeyrailError`, or undefined if it is not a revert. */
const decodeRevert = (error: unknown): ShownRevert | undefined =>
  isKeyrailError(error, 'revert')
    ? { data: String(error.rpcError ? toRevert(error.rpcError).data : undefined) }
    : undefined

/** Creates a test client that has only a function for any call. */
export function createTestClient(client: Requester, signal: AbortSignal | undefined): TestClient {
  const { call, address } = adapters.node.contract
  const request: TestClient['request'] = (method, params) => client.request({ method, params })
  return {
    blockNumber: () => request('eth_blockNumber', []),
    balance: (account) => request('eth_getBalance', [account, 'latest']),
    contractRead: () => request('eth_call', [{ to: address, data: call }, 'latest']),
    send: (raw) => request('eth_sendRawTransaction', [raw]),
    request,
    abortable: () => client.request({ method: 'eth_blockNumber', params: [] }, { signal }),
    decodeRevert,
    exposed: client,
    close: () => client.close(),
  }
}

/** The decoded reads of `@keyrail/fetch`. Core must not import that package, so its test passes them in. */
export interface DecodedReads<C> {
  readonly getBlockNumber: (client: C) => Promise<unknown>
  readonly getBalance: (client: C, options: { readonly address: Hex }) => Promise<unknown>
  readonly call: (client: C, options: { readonly to: Hex; readonly data: Hex }) => Promise<unknown>
  readonly sendRawTransaction: (client: C, options: { readonly transaction: Hex }) => Promise<unknown>
}

/** Creates a subject for a client of Keyrail: its decoded reads, and its `request`. */
export function createRequestSubject<C extends { readonly close: () => void }>(
  name: string,
  open: (target: Target) => C,
  reads: DecodedReads<C>,
): Subject {
  const { contract } = adapters.node
  const createRawClient = (client: C, target: Target): TestClient =>
    createTestClient(client as unknown as Requester, target.signal)
  const raw = (target: Target): TestClient => createRawClient(open(target), target)
  const library = (target: Target): TestClient => {
    const client = open(target)
    return {
      ...createRawClient(client, target),
      blockNumber: () => reads.getBlockNumber(client),
      balance: (address) => reads.getBalance(client, { address: address as Hex }),
      contractRead: () => reads.call(client, { to: contract.address as Hex, data: contract.call as Hex }),
      send: (transaction) => reads.sendRawTransaction(client, { transaction: transaction as Hex }),
    }
  }
  return { name, open: { library, raw } }
}
