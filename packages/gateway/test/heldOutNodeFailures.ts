import type { ServerResponse } from 'node:http'
import { result } from './fakeUpstream.ts'
import type { Behaviour, SeenCall } from './fakeUpstream.ts'
import { error, newHash, nothing } from './nodeFailures.ts'
import type { NodeFailure } from './nodeFailures.ts'

/** A failure that was reported in public, and that the failover was not written for. */
export interface HeldOutFailure extends NodeFailure {
  /** The thread that reports it. */
  readonly origin: string
  /** Why the caller does not get the response of the second node. Absent if it does. */
  readonly limitation?: string
}

const batches = new WeakMap<ServerResponse, SeenCall[]>()
/** Responds to all calls of a batch except the last, and with an empty batch to a call alone. */
const dropLast: Behaviour = (call, response) => {
  const calls = batches.get(response) ?? []
  batches.set(response, [...calls, call])
  if (calls.length === 0)
    queueMicrotask(() => {
      const rest = batches.get(response)?.slice(0, -1) ?? []
      response.end(`[${rest.map((one) => result(one, '"second"')).join(',')}]`)
    })
  return undefined
}

/** Sends the first part of a response, and then nothing more. */
export const stall: Behaviour = (_, response) => {
  if (!response.headersSent) response.writeHead(200, { 'content-length': '1000' }).write('{"jsonrpc":"2.0","id":1,')
  return undefined
}

const state = (): unknown[] => [newHash().slice(0, 42), '0x64']
const empty: Behaviour = (call) => result(call, '[]')

/** Ways in which the first of two nodes fails. The right response is that of the second. */
export const heldOutNodeFailures: readonly HeldOutFailure[] = [
  {
    name: 'ethrex: its state is pruned',
    origin: 'lambdaclass/ethrex#4870',
    behave: error(-32603, 'state at block #2 is pruned'),
    method: 'eth_getBalance',
    params: state,
  },
  {
    name: 'ethrex: it has the default value for a block that it does not have yet',
    origin: 'lambdaclass/ethrex#4870',
    behave: (call) => result(call, '"0x0"'),
    method: 'eth_getBalance',
    params: state,
    head: 97,
  },
  {
    name: 'reth: its state is pruned, so a trace fails for the nonce',
    origin: 'paradigmxyz/reth#4060',
    behave: error(-32003, 'nonce too high'),
    method: 'debug_traceTransaction',
    params: () => [newHash()],
  },
  {
    name: 'Erigon: it has null as the trace of a transaction that it does not have',
    origin: 'erigontech/erigon#20211',
    behave: nothing,
    method: 'debug_traceTransaction',
    params: () => [newHash()],
  },
  {
    name: 'Parity: it still reads ancient blocks',
    origin: 'raiden-network/raiden#6112',
    behave: error(
      -32000,
      'Requested block number is in a range that is not available yet, because the ancient block sync is still in progress.',
    ),
    method: 'eth_getBlockByNumber',
    params: () => ['0x10', false],
  },
  {
    name: 'Gnosis: it does not have a block of a range of logs',
    origin: 'hoprnet/hoprnet#3342',
    behave: error(
      -32000,
      'One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found',
      '0x64',
    ),
    method: 'eth_getLogs',
    params: () => [{ fromBlock: '0x60', toBlock: '0x64' }],
  },
  {
    name: 'geth: it has no logs of blocks that it does not have yet',
    origin: 'ethereum/go-ethereum#24078',
    behave: empty,
    method: 'eth_getLogs',
    params: () => [{ fromBlock: '0x62', toBlock: '0x64' }],
    head: 97,
  },
  {
    name: 'Besu: it has no logs of a hash that it does not know',
    origin: 'besu-eth/besu#8007',
    behave: empty,
    method: 'eth_getLogs',
    params: () => [{ blockHash: newHash() }],
    head: 97,
  },
  {
    name: 'it sends an older block for latest',
    origin: 'erpc/erpc#50',
    behave: (call) => result(call, '{"number":"0x61"}'),
    method: 'eth_getBlockByNumber',
    params: () => ['latest', false],
    head: 97,
  },
  {
    name: 'it drops the last response of a batch',
    origin: 'KeeperHub/keeperhub#538',
    behave: dropLast,
  },
  {
    name: 'it sends an error as a text',
    origin: 'ethers-io/ethers.js#841',
    behave: (call) => `{"jsonrpc":"2.0","id":${call.id},"error":"rate limited"}`,
  },
  {
    name: 'it sends neither a result nor an error',
    origin: 'ethereum/web3.py, tests of its response formatters',
    behave: (call) => `{"jsonrpc":"2.0","id":${call.id}}`,
  },
  {
    name: 'it stops in the middle of its response',
    origin: 'ethers-io/ethers.js#2571',
    behave: stall,
  },
]
