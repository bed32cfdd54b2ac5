import type { Address, BlockIdentifier, Bytes, Hash, Quantity, StateOverrides, TransactionRequest } from '@keyrail/core'
import { isHexData, lower, quantity, toHex, wordOf } from '../bytes/hex.ts'
import type { Block } from '../chain/block.ts'
import { wireReceipt } from '../chain/block.ts'
import { decodeRawTransaction } from '../chain/decodeTransaction.ts'
import { envelope, signTransaction, unsignedParts } from '../chain/encodeTransaction.ts'
import { blockGasLimit, intrinsicGas, usualTip } from '../chain/fees.ts'
import { miner } from '../chain/header.ts'
import type { Outcome } from '../chain/message.ts'
import type { PooledTransaction, TransactionFields } from '../chain/transaction.ts'
import { wireFields } from '../chain/wireTransaction.ts'
import { at } from '../chain/worldState.ts'
import type { StateValue } from '../chain/worldState.ts'
import { inputOf, method, stateBlockOf } from './method.ts'
import type { Method, NodeView } from './method.ts'
import { failed, RpcFailure } from './rpcFailure.ts'

function overridden(overrides: StateOverrides = {}): Map<string, StateValue> {
  const values = new Map<string, StateValue>()
  for (const [given, account] of Object.entries(overrides)) {
    const address = lower(given as Address)
    if (account.balance !== undefined) values.set(at.balance(address), BigInt(account.balance))
    if (account.nonce !== undefined) values.set(at.nonce(address), Number(account.nonce))
    if (account.code !== undefined) values.set(at.code(address), account.code)
    for (const [slot, value] of Object.entries(account.state ?? account.stateDiff ?? {})) {
      values.set(at.slot(address, wordOf(slot as Hash)), wordOf(value as Hash))
    }
  }
  return values
}

function checkRequest(call: TransactionRequest): void {
  for (const name of ['from', 'to'] as const) {
    const address = call[name]
    if (address != null && !isHexData(address, 20)) {
      const fault = String(address).startsWith('0x')
        ? `hex string has length ${String(address).length - 2}, want 40 for common.Address`
        : `json: cannot unmarshal hex string without 0x prefix into Go struct field TransactionArgs.${name} of type common.Address`
      throw new RpcFailure(-32_602, `invalid argument 0: ${fault}`)
    }
  }
  if (!isHexData(inputOf(call))) {
    throw new RpcFailure(
      -32_602,
      'invalid argument 0: json: cannot unmarshal invalid hex string into Go struct field TransactionArgs.input of type hexutil.Bytes',
    )
  }
}

/** Runs a call without keeping what it changes. */
function run(view: NodeView, call: TransactionRequest, block?: BlockIdentifier, overrides?: StateOverrides): Outcome {
  checkRequest(call)
  const number = stateBlockOf(view, block)
  const values = overridden(overrides)
  const read = (key: string): StateValue => values.get(key) ?? view.chain.read(key, number)
  const from = lower(call.from ?? miner)
  const value = BigInt(call.value ?? 0)
  const balance = read(at.balance(from)) as bigint
  if (value > balance) {
    throw failed(`insufficient funds for gas * price + value: address ${from} have ${balance} want ${value}`)
  }
  if (call.to == null) return { output: inputOf(call), logs: [], gas: 0 }
  const { header } = view.chain.block(number) as Block
  const outcome = view.execute({
    from,
    to: lower(call.to),
    value,
    input: inputOf(call),
    block: { number, timestamp: header.timestamp, baseFee: header.baseFee },
    isTransaction: false,
    read,
    write: (key, written) => values.set(key, written),
  })
  const { reverted } = outcome
  if (reverted !== undefined) {
    const reason = reverted.reason === '' ? '' : `: ${reverted.reason}`
    throw new RpcFailure(3, `execution reverted${reason}`, reverted.data)
  }
  return outcome
}

function gasOf(view: NodeView, call: TransactionRequest, block?: BlockIdentifier, overrides?: StateOverrides): number {
  const outcome = run(view, call, block, overrides)
  const fields = {
    to: call.to ?? null,
    input: inputOf(call),
    accessList: call.accessList ?? [],
    authorizations: call.authorizationList ?? [],
  }
  const gas = intrinsicGas(fields) + outcome.gas
  const allowance = Number(call.gas ?? blockGasLimit)
  if (gas > allowance) throw failed(`gas required exceeds allowance (${allowance})`)
  // A handler may do more in a transaction than it did just now, and nothing says how much.
  return Math.min(allowance, outcome.gas === 0 ? gas : gas + outcome.gas + 50_000)
}

function decode(raw: Bytes): PooledTransaction {
  try {
    return decodeRawTransaction(raw)
  } catch (error) {
    throw new RpcFailure(-32_602, (error as Error).message)
  }
}

/** A transaction with what was left open filled in. */
function filled(view: NodeView, request: TransactionRequest): TransactionFields {
  checkRequest(request)
  const { chain } = view
  const legacy = request.gasPrice !== undefined
  const maxTip = BigInt(request.maxPriorityFeePerGas ?? (request.maxFeePerGas === undefined ? usualTip : 0))
  return {
    type: legacy ? (request.accessList === undefined ? 0 : 1) : 2,
    chainId: BigInt(chain.chainId),
    nonce: Number(request.nonce ?? chain.pool.nextNonce(lower(request.from ?? miner), chain.read)),
    to: request.to == null ? null : lower(request.to),
    value: BigInt(request.value ?? 0),
    input: inputOf(request),
    gas: Number(request.gas ?? gasOf(view, request)),
    maxFee: legacy
      ? BigInt(request.gasPrice ?? 0)
      : BigInt(request.maxFeePerGas ?? 2n * chain.baseFeeOfNext() + maxTip),
    maxTip: legacy ? BigInt(request.gasPrice ?? 0) : maxTip,
    accessList: request.accessList ?? [],
    maxBlobFee: 0n,
    blobHashes: [],
    authorizations: [],
  }
}

/** A transaction of an account of the node's own, signed. */
function signed(view: NodeView, request: TransactionRequest): PooledTransaction {
  const account = view.chain.accounts.find(({ address }) => address === lower(request.from ?? miner))
  if (account === undefined) throw failed('unknown account')
  return signTransaction(filled(view, request), account.privateKey)
}

function submit({ chain }: NodeView, tx: PooledTransaction): Hash {
  chain.submit(tx)
  return tx.hash
}

/** Calls that run something, and transactions. */
export const callMethods: Readonly<Record<string, Method>> = {
  eth_call: method<[TransactionRequest, BlockIdentifier?, StateOverrides?]>(
    ['object', 'block?', 'object?', 'object?'],
    (view, call, block, overrides) => run(view, call, block, overrides).output,
  ),
  eth_estimateGas: method<[TransactionRequest, BlockIdentifier?, StateOverrides?]>(
    ['object', 'block?', 'object?', 'object?'],
    (view, call, block, overrides): Quantity => quantity(gasOf(view, call, block, overrides)),
  ),
  eth_createAccessList: method<[TransactionRequest, BlockIdentifier?, StateOverrides?]>(
    ['object', 'block?', 'object?'],
    (view, call, block, overrides) => ({ accessList: [], gasUsed: quantity(gasOf(view, call, block, overrides)) }),
  ),
  eth_sendRawTransaction: method<[Bytes]>(['bytes'], (view, raw) => submit(view, decode(raw))),
  eth_sendRawTransactionSync: method<[Bytes, number?]>(['bytes', 'any?'], (view, raw) => {
    const hash = submit(view, decode(raw))
    const place = view.chain.find(hash)
    if (place === undefined)
      throw new RpcFailure(
        4,
        'The transaction was added to the transaction pool but was not processed within the designated timeout.',
        hash,
      )
    return wireReceipt(place.block, place.index)
  }),
  eth_fillTransaction: method<[TransactionRequest]>(['object'], (view, request) => {
    if (
      request.authorizationList !== undefined ||
      request.blobVersionedHashes !== undefined ||
      request.blobs !== undefined
    ) {
      throw failed('transactions with blobs or authorizations are not filled')
    }
    const fields = filled(view, request)
    return { raw: toHex(envelope(fields.type, unsignedParts(fields))), tx: wireFields(fields) }
  }),
  eth_sendTransaction: method<[TransactionRequest]>(['object'], (view, request) => submit(view, signed(view, request))),
}
