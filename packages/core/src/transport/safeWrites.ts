import { now } from '../clock/now.ts'
import { startTimer } from '../clock/startTimer.ts'
import type { Timer } from '../clock/startTimer.ts'
import { createFailure } from '../failure/createFailure.ts'
import type { FailureKind } from '../failure/failureKind.ts'
import { check, checkNames, checkRange } from '../failure/check.ts'
import { isRejectedBeforeRun } from '../failure/isRejectedBeforeRun.ts'
import { isKeyrailError, KeyrailError } from '../failure/keyrailError.ts'
import { toMethodMap } from '../schema/methodGroups.ts'
import { lookUpMethods } from '../schema/methodSlice.ts'
import type { Call, Send, Layer, Complete } from './call/call.ts'
import { follow, timeLeft } from './call/callProgress.ts'
import { createCall } from './call/createCall.ts'
import { onCancel } from './call/onCancel.ts'
import { transactionHash } from './transactionHash.ts'
import type { Keccak256 } from './transactionHash.ts'
import { areByName } from './call/writeParams.ts'

export type { Keccak256 } from './transactionHash.ts'

const lookedUpBy = /* @__PURE__ */ toMethodMap(lookUpMethods)

/** Options of {@link safeWrites}. */
export interface SafeWritesOptions {
  /** Keccak-256 of bytes given as hex: `keccak256` of viem or ethers, `sha3Raw` of web3-utils. */
  readonly keccak256: Keccak256
  /** How often a transaction that was looked up and not found is sent again, with the same signed bytes. @default 0 */
  readonly resends?: number | undefined
}

/** The time between two look-ups, in milliseconds. In that time a transaction arrives, and nodes pass it on to each other. */
const LOOK_UP_MS = 2_000

/** How often a transaction is looked up after a send, at most. More often for a receipt, because it comes with a block. */
const MAX_LOOK_UPS = 3
const MAX_RECEIPT_LOOK_UPS = 30

/** Failures with which a node rejects a transaction. It may have accepted the same transaction before. */
export const rejected: readonly FailureKind[] = ['txRejected', 'revert']

/**
 * Creates a layer that looks transactions up before it reports a failure of `eth_sendRawTransaction`. It computes the transaction's hash, and requests
 * the transaction by it after "already known", after "nonce too low" or another rejection, and after a failure that leaves open whether the
 * transaction arrived. The transaction is sent once or, with `resends`, again after two look-ups, 2 s apart, did not find it. "Already known" is
 * looked up too, because some nodes report it for transactions that they have just rejected.
 *
 * `eth_sendRawTransactionSync` is looked up by its receipt. It is never sent again, because a pending transaction has no receipt either.
 * Transactions of ZKsync's type 0x71, and params by name, are sent unchanged. If a node accepts a transaction of another type that a single chain has,
 * its result is returned also with another hash, because the chain may hash it in its own way.
 *
 * @param options - The hash function, and how often a transaction is sent again.
 * @throws {KeyrailError} Each failure has `transactionHash`. Kind `unconfirmed` if the transaction was sent and not found within the call's
 * deadline; `txRejected` if it was rejected and is not known; `invalidRequest` if the param is not a transaction: then nothing was sent.
 * @example
 * declare function keccak256(hex: `0x${string}`): `0x${string}`
 * const transport = createTransport({ url: 'http://127.0.0.1:8545', safeWrites: safeWrites({ keccak256 }) })
 * @see EIP-7966 (eth_sendRawTransactionSync)
 */
export function safeWrites(options: SafeWritesOptions): Layer {
  const given = Object(options) as SafeWritesOptions
  checkNames('safeWrites', given, ['keccak256', 'resends'])
  const { keccak256, resends = 0 } = given
  checkRange('resends', resends, 0, 100)
  check(
    isKeccak(keccak256),
    `keccak256 must be a function that returns the Keccak-256 of bytes as hex (for '0x': ${EMPTY_HASH}): pass keccak256 of viem or ethers`,
  )
  return (next, { redactedUrl }) =>
    (call: Call, complete) => {
      if (!lookedUpBy.has(call.method) || areByName(call.params)) return next(call, complete)
      let hash
      let raw
      try {
        ;[raw] = JSON.parse(call.params) as unknown[]
        hash = transactionHash(raw, keccak256)
      } catch (error) {
        return complete(false, error)
      }
      if (!hash) return next(call, complete)
      write({ call, complete, hash, isOwnType: isOwn(Number(String(raw).slice(0, 4))), resends, next, redactedUrl })
    }
}

/** The last type that the specification has. A legacy transaction starts with a list, 0xc0 or more. */
const LAST_TYPE = 4
const FIRST_LIST = 0xc0

const isOwn = (type: number): boolean => type > LAST_TYPE && type < FIRST_LIST

const ANY_HASH = /^0x[\da-f]{64}$/i

const EMPTY_HASH = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'

const isKeccak = (keccak256: Keccak256): boolean => {
  try {
    return keccak256('0x') === EMPTY_HASH
  } catch {
    return false
  }
}

interface Write {
  readonly call: Call
  readonly complete: Complete
  readonly hash: `0x${string}`
  /** Its type is one that a single chain has, which may hash it in its own way. */
  readonly isOwnType: boolean
  readonly resends: number
  readonly next: Send
  readonly redactedUrl: string
}

/** Sends one transaction and finds out whether it arrived. */
function write({ call, complete, hash, isOwnType, resends, next, redactedUrl }: Write): void {
  const { method } = call
  const sync = lookedUpBy.get(method) === 'receipt'
  // With several endpoints, look-ups go to the one that accepted the transaction.
  const group = call.group ?? call.batch ?? {}
  let sent: Call | undefined
  let lookingUp: Call | undefined
  let timer: Timer | undefined
  let sentTo: string | undefined
  let lookedUpAt: string | undefined
  /** The failure of the send, once it has failed. */
  let failure: KeyrailError | undefined
  let resent = 0
  let lookUps = 0
  /** How many look-ups did not find the transaction. */
  let notFound = 0

  /** Creates a call of this layer, with the caller's deadline. `onAttempted` gets the endpoint that it was sent to. */
  const createOwnCall = (ownMethod: string, params: string, onAttempted: (at: string | undefined) => void): Call => {
    const own: Call = {
      ...createCall(ownMethod, params, { ...call.options, priority: call.options.priority ?? 'write' }),
      deadlineAt: now() + timeLeft(call),
      group,
      emit: (event) => {
        if (event.type === 'attempted') onAttempted(event.redactedUrl)
        call.emit?.(event)
      },
    }
    follow(call, own)
    return own
  }

  /** Cancels a call of this layer. Its outcome is ignored. */
  const stop = (own: Call | undefined, reason?: unknown): void => {
    if (!own) return
    own.ended = true
    own.cancel?.(reason)
  }

  const finish = (ok: boolean, value: unknown, reason?: unknown): void => {
    clearTimeout(timer)
    const ownCalls = [sent, lookingUp]
    sent = lookingUp = undefined
    for (const own of ownCalls) stop(own, reason)
    complete(ok, value)
  }

  const fail = (why: KeyrailError, reason?: unknown): void =>
    finish(false, new KeyrailError(why.message, { ...why, transactionHash: hash }), reason)

  const unconfirmed = (after: KeyrailError): KeyrailError => {
    const text = `it is unknown whether transaction ${hash} arrived (${after.kind})`
    const failed = createFailure(
      { kind: 'unconfirmed', text },
      { method, redactedUrl: after.redactedUrl ?? redactedUrl },
    )
    return new KeyrailError(failed.message, { ...failed, status: after.status, rpcError: after.rpcError })
  }

  const isHash = (value: unknown): boolean => typeof value === 'string' && value.toLowerCase() === hash
  const isReceipt = (value: unknown): boolean => isHash(Object(value).transactionHash)

  const lookUp = (): void => {
    const lookUpMethod = sync ? 'eth_getTransactionReceipt' : 'eth_getTransactionByHash'
    const own = createOwnCall(lookUpMethod, `["${hash}"]`, (at) => (lookedUpAt = at))
    lookedUpAt = undefined
    lookingUp = own
    next(own, (ok, value) => {
      if (lookingUp !== own) return
      lookingUp = undefined
      if (ok && (sync ? isReceipt(value) : isHash(Object(value).hash))) return finish(true, sync ? value : hash)
      if (!failure) return lookUpLater()
      lookUps++
      if (ok && value === null) notFound++
      const isSameEndpoint = lookedUpAt !== undefined && lookedUpAt === sentTo
      if (rejected.includes(failure.kind)) {
        if (notFound > 1 || (notFound > 0 && isSameEndpoint)) return fail(failure)
      } else if (notFound > 1 && !sync && resent < resends) {
        resent++
        return sendTransaction()
      }
      const isEnough = sync ? lookUps >= MAX_RECEIPT_LOOK_UPS : notFound > 1 || lookUps >= MAX_LOOK_UPS
      if (isEnough) return fail(unconfirmed(failure))
      timer = startTimer(lookUp, LOOK_UP_MS)
    })
  }

  /** Looks the transaction up while the send is still in flight, because only its response may be lost. There is nothing to find while it is queued. */
  const lookUpLater = (ms: number = LOOK_UP_MS): void => {
    if (ms < 2 ** 31) timer = startTimer(() => (sent?.progress.queued ? lookUpLater() : lookUp()), ms)
  }

  const handleSent = (ok: boolean, value: unknown): void => {
    if (ok && (sync ? isReceipt(value) : isHash(value))) return finish(true, value)
    if (ok && isOwnType && ANY_HASH.test(String(sync ? Object(value).transactionHash : value)))
      return finish(true, value)
    if (!ok && !isKeyrailError(value)) return finish(false, value)
    failure = ok
      ? createFailure(
          { kind: 'badResponse', text: 'the node returned the hash of another transaction' },
          { method, redactedUrl: sentTo ?? redactedUrl },
        )
      : (value as KeyrailError)
    if (isRejectedBeforeRun(failure)) return fail(failure)
    // Look-ups during the send do not count.
    clearTimeout(timer)
    const before = lookingUp
    lookingUp = undefined
    stop(before)
    lookUps = notFound = 0
    lookUp()
  }

  const sendTransaction = (): void => {
    const own = createOwnCall(method, call.params, (at) => (sentTo = at))
    sent = own
    failure = undefined
    // The deadline may have passed while the hash was computed.
    lookUpLater(Math.max(1, timeLeft(call) / 2))
    next(own, (ok, value) => {
      if (sent !== own) return
      sent = undefined
      handleSent(ok, value)
    })
  }

  onCancel(call, (reason) => {
    // The caller's own reason is passed on unchanged.
    if (!isKeyrailError(reason, 'timeout') || call.options.signal?.aborted) finish(false, reason, reason)
    else fail(unconfirmed(failure ?? reason), reason)
  })
  sendTransaction()
}
