import type { Address, Hash, Quantity, TransactionRequest } from '@keyrail/core'
import type { BlockIdentifier, Bytes, StateOverrides } from '@keyrail/core/schema'
import { findDeploylessMulticall, multicallAddress } from '../abi/multicall.ts'
import { isHexData, lower, toQuantity, toHex, toWord } from '../bytes/hex.ts'
import type { Block } from '../chain/block.ts'
import { wireReceipt } from '../chain/block.ts'
import { decodeRawTransaction } from '../chain/decodeTransaction.ts'
import { envelope, signTransaction, unsignedParts } from '../chain/encodeTransaction.ts'
import { blockGasLimit, intrinsicGas, defaultTip } from '../chain/fees.ts'
import { miner } from '../chain/header.ts'
import type { Outcome } from '../chain/message.ts'
import type { PooledTransaction, TransactionFields } from '../chain/transaction.ts'
import { wireFields } from '../chain/wireTransaction.ts'
import { stateKey } from '../chain/worldState.ts'
import type { StateValue } from '../chain/worldState.ts'
import { getInput, method, resolveStateBlock } from './method.ts'
import type { Method, NodeView } from './method.ts'
import { serverError, RpcError } from './rpcError.ts'

function applyOverrides(overrides: StateOverrides = {}): Map<string, StateValue> {
  const values = new Map<string, StateValue>()
  for (const [given, account] of Object.entries(overrides)) {
    const address = lower(given as Address)
    if (account.balance !== undefined) values.set(stateKey.balance(address), BigInt(account.balance))
    if (account.nonce !== undefined) values.set(stateKey.nonce(address), Number(account.nonce))
    if (account.code !== undefined) values.set(stateKey.code(address), account.code)
    for (const [slot, value] of Object.entries(account.state ?? account.stateDiff ?? {})) {
      values.set(stateKey.slot(address, toWord(slot as Hash)), toWord(value as Hash))
    }
  }
  return values
}

function checkRequest(call: TransactionRequest): void {
  for (const name of ['from', 'to'] as const) {
    const address = call[name]
    if (address != null && !isHexData(address, 20)) {
      const problem = String(address).startsWith('0x')
        ? `hex string has length ${String(address).length - 2}, want 40 for common.Address`
        : `json: cannot unmarshal hex string without 0x prefix into Go struct field TransactionArgs.${name} of type common.Address`
      throw new RpcError(-32_602, `invalid argument 0: ${problem}`)
    }
  }
  if (!isHexData(getInput(call))) {
    throw new RpcError(
      -32_602,
      'invalid argument 0: json: cannot unmarshal invalid hex string into Go struct field TransactionArgs.input of type hexutil.Bytes',
    )
  }
}

/** Runs a call and discards its changes. */
function run(view: NodeView, call: TransactionRequest, block?: BlockIdentifier, overrides?: StateOverrides): Outcome {
  checkRequest(call)
  const number = resolveStateBlock(view, block)
  const values = applyOverrides(overrides)
  const read = (key: string): StateValue => values.get(key) ?? view.chain.read(key, number)
  const from = lower(call.from ?? miner)
  const value = BigInt(call.value ?? 0)
  const balance = read(stateKey.balance(from)) as bigint
  if (value > balance) {
    throw serverError(`insufficient funds for gas * price + value: address ${from} have ${balance} want ${value}`)
  }
  const multicall = call.to == null ? findDeploylessMulticall(getInput(call)) : undefined
  if (call.to == null && multicall === undefined) return { output: getInput(call), logs: [], gas: 0 }
  const { header } = view.chain.block(number) as Block
  const outcome = view.execute({
    from,
    to: lower(call.to ?? multicallAddress),
    value,
    input: multicall ?? getInput(call),
    block: { number, timestamp: header.timestamp, baseFee: header.baseFee },
    isTransaction: false,
    read,
    write: (key, written) => values.set(key, written),
  })
  const { reverted } = outcome
  if (reverted !== undefined) {
    const reason = reverted.reason === '' ? '' : `: ${reverted.reason}`
    throw new RpcError(3, `execution reverted${reason}`, reverted.data)
  }
  return outcome
}

function estimateGas(
  view: NodeView,
  call: TransactionRequest,
  block?: BlockIdentifier,
  overrides?: StateOverrides,
): number {
  const outcome = run(view, call, block, overrides)
  const fields = {
    to: call.to ?? null,
    input: getInput(call),
    accessList: call.accessList ?? [],
    authorizations: call.authorizationList ?? [],
  }
  const gas = intrinsicGas(fields) + outcome.gas
  const allowance = Number(call.gas ?? blockGasLimit)
  if (gas > allowance) throw serverError(`gas required exceeds allowance (${allowance})`)
  // A handler may use more gas in a transaction than in this call, and there is no way to know how much.
  return Math.min(allowance, outcome.gas === 0 ? gas : gas + outcome.gas + 50_000)
}

function decode(raw: Bytes): PooledTransaction {
  try {
    return decodeRawTransaction(raw)
  } catch (error) {
    throw new RpcError(-32_602, (error as Error).message)
  }
}

/** Fills in the missing fields of a transaction. */
function fillTransaction(view: NodeView, request: TransactionRequest): TransactionFields {
  checkRequest(request)
  const { chain } = view
  const legacy = request.gasPrice !== undefined
  const maxTip = BigInt(request.maxPriorityFeePerGas ?? (request.maxFeePerGas === undefined ? defaultTip : 0))
  return {
    type: legacy ? (request.accessList === undefined ? 0 : 1) : 2,
    chainId: BigInt(chain.chainId),
    nonce: Number(request.nonce ?? chain.pool.nextNonce(lower(request.from ?? miner), chain.read)),
    to: request.to == null ? null : lower(request.to),
    value: BigInt(request.value ?? 0),
    input: getInput(request),
    gas: Number(request.gas ?? estimateGas(view, request)),
    maxFee: legacy ? BigInt(request.gasPrice ?? 0) : BigInt(request.maxFeePerGas ?? 2n * chain.nextBaseFee() + maxTip),
    maxTip: legacy ? BigInt(request.gasPrice ?? 0) : maxTip,
    accessList: request.accessList ?? [],
    maxBlobFee: 0n,
    blobHashes: [],
    authorizations: [],
  }
}

/** Signs a transaction of one of the node's accounts. */
function sign(view: NodeView, request: TransactionRequest): PooledTransaction {
  const account = view.chain.accounts.find(({ address }) => address === lower(request.from ?? miner))
  if (account === undefined) throw serverError('unknown account')
  return signTransaction(fillTransaction(view, request), account.privateKey)
}

function submit({ chain }: NodeView, tx: PooledTransaction): Hash {
  chain.submit(tx)
  return tx.hash
}

/** The methods that run calls and send transactions. */
export const callMethods: Readonly<Record<string, Method>> = {
  eth_call: method<[TransactionRequest, BlockIdentifier?, StateOverrides?]>(
    ['object', 'block?', 'object?', 'object?'],
    (view, call, block, overrides) => run(view, call, block, overrides).output,
  ),
  eth_estimateGas: method<[TransactionRequest, BlockIdentifier?, StateOverrides?]>(
    ['object', 'block?', 'object?', 'object?'],
    (view, call, block, overrides): Quantity => toQuantity(estimateGas(view, call, block, overrides)),
  ),
  eth_createAccessList: method<[TransactionRequest, BlockIdentifier?, StateOverrides?]>(
    ['object', 'block?', 'object?'],
    (view, call, block, overrides) => ({
      accessList: [],
      gasUsed: toQuantity(estimateGas(view, call, block, overrides)),
    }),
  ),
  eth_sendRawTransaction: method<[Bytes]>(['bytes'], (view, raw) => submit(view, decode(raw))),
  eth_sendRawTransactionSync: method<[Bytes, number?]>(['bytes', 'any?'], (view, raw) => {
    const hash = submit(view, decode(raw))
    const place = view.chain.find(hash)
    if (place === undefined)
      throw new RpcError(
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
      throw serverError('transactions with blobs or authorizations are not filled')
    }
    const fields = fillTransaction(view, request)
    return { raw: toHex(envelope(fields.type, unsignedParts(fields))), tx: wireFields(fields) }
  }),
  eth_sendTransaction: method<[TransactionRequest]>(['object'], (view, request) => submit(view, sign(view, request))),
}
