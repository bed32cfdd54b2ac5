import { now } from '../clock/now.ts'
import { startTimer } from '../clock/startTimer.ts'
import type { Timer } from '../clock/startTimer.ts'
import { createFailure } from '../failure/createFailure.ts'
import type { FailureKind } from '../failure/failureKind.ts'
import { check, checkNames, checkRange } from '../failure/check.ts'
import { isRejectedBeforeRun } from '../failure/isRejectedBeforeRun.ts'
import { isKeyrailError, KeyrailError } from '../failure/keyrailError.ts'
import type { Call, Send, Layer, Settle } from './call.ts'
import { createCall } from './createCall.ts'
import { onCancel } from './onCancel.ts'
import { transactionHash } from './transactionHash.ts'
import type { Keccak256 } from './transactionHash.ts'
import { isQueued, setBelow } from './waits.ts'
import { areByName } from './writeParams.ts'

export type { Keccak256 } from './transactionHash.ts'

/** Options of {@link safeWrite}. */
export interface SafeWritesOptions {
  /** Keccak-256 of bytes given as hex: `keccak256` of viem or ethers, `sha3Raw` of web3-utils. */
  readonly keccak256: Keccak256
  /** How often a transaction that was looked for and not found is sent again, the same signed bytes. @default 0 */
  readonly resends?: number | undefined
}

/** How far apart two looks are, in milliseconds: what is on its way has arrived by then, and nodes have told each other. */
const LOOK_MS = 2_000

/** How often is looked after a send, at most. For a receipt it is longer, because it comes with a block. */
const MAX_LOOKS = 3
const MAX_RECEIPT_LOOKS = 30

/** Failures by which the node judges the transaction. That it was not taken now does not say that it was not taken before. */
export const rejected: readonly FailureKind[] = ['txRejected', 'revert']

/**
 * Makes `eth_sendRawTransaction` tell the truth. The hash is computed here, so that whatever happens to the call, the transaction can be
 * looked up: after "already known", after "nonce too low" or another rejection, and after a failure that leaves open whether it arrived, the
 * hash is looked up before anything is reported. It is sent once, and with `resends` again where it was looked for twice, 2 s apart, and not found.
 * Even "already known" is not believed: some nodes say it of what they turned away a moment ago.
 *
 * `eth_sendRawTransactionSync` is treated likewise by its receipt. It is never sent again: a transaction that waits has no receipt either.
 * Transactions of types that only some chains have are passed on as they are, and so are params by name.
 *
 * @param options - The hash function, and how often a transaction is sent again.
 * @throws {KeyrailError} each failure with `transactionHash`. Kind `unconfirmed` where it was sent and could not be found, within the call's
 * deadline; `txRejected` where it was rejected and is not known; `invalidRequest` where it is no transaction: then nothing was sent.
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
    `keccak256 must be a function that returns the Keccak-256 of bytes as hex (for '0x': ${HASH_OF_NOTHING}): pass keccak256 of viem or ethers`,
  )
  return (next, { redactedUrl }) =>
    (call: Call, settle) => {
      const isRawTransaction = call.method === 'eth_sendRawTransaction' || call.method === 'eth_sendRawTransactionSync'
      if (!isRawTransaction || areByName(call.params)) return next(call, settle)
      let hash
      try {
        hash = transactionHash((JSON.parse(call.params) as unknown[])[0], keccak256)
      } catch (error) {
        return settle(false, error)
      }
      if (!hash) return next(call, settle)
      write({ call, settle, hash, resends, next, redactedUrl })
    }
}

const HASH_OF_NOTHING = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'

const isKeccak = (keccak256: Keccak256): boolean => {
  try {
    return keccak256('0x') === HASH_OF_NOTHING
  } catch {
    return false
  }
}

interface Write {
  readonly call: Call
  readonly settle: Settle
  readonly hash: `0x${string}`
  readonly resends: number
  readonly next: Send
  readonly redactedUrl: string
}

/** Sends one transaction and finds out what became of it. */
function write({ call, settle, hash, resends, next, redactedUrl }: Write): void {
  const { method } = call
  const sync = method === 'eth_sendRawTransactionSync'
  // Asked of the endpoint that took it, where there are several.
  const group = call.group ?? call.batch ?? {}
  let sent: Call | undefined
  let look: Call | undefined
  let timer: Timer | undefined
  let sentTo: string | undefined
  let lookedAt: string | undefined
  /** How the send ended, once it has. */
  let failure: KeyrailError | undefined
  let resent = 0
  let looks = 0
  let absent = 0

  /** A call of our own, on the caller's time. */
  const record = (asked: string, params: string, heard: (at: string | undefined) => void): Call => ({
    ...createCall(asked, params, { ...call.options, priority: call.options.priority ?? 'write' }),
    deadlineAt: call.deadlineAt,
    group,
    note: (event) => {
      if (event.type === 'attempted') heard(event.redactedUrl)
      call.note?.(event)
    },
  })

  /** Ends what is under way below. It settles, and nobody listens. */
  const stop = (under: Call | undefined, reason?: unknown): void => {
    if (!under) return
    under.ended = true
    under.cancel?.(reason)
  }

  const finish = (ok: boolean, value: unknown, reason?: unknown): void => {
    clearTimeout(timer)
    const under = [sent, look]
    sent = look = undefined
    for (const each of under) stop(each, reason)
    settle(ok, value)
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
    const asked = sync ? 'eth_getTransactionReceipt' : 'eth_getTransactionByHash'
    const looking = record(asked, `["${hash}"]`, (at) => (lookedAt = at))
    lookedAt = undefined
    setBelow(call, (look = looking))
    next(looking, (ok, value) => {
      if (look !== looking) return
      look = undefined
      if (ok && (sync ? isReceipt(value) : isHash(Object(value).hash))) return finish(true, sync ? value : hash)
      if (!failure) return watch()
      looks++
      if (ok && value === null) absent++
      const fromTaker = lookedAt !== undefined && lookedAt === sentTo
      if (rejected.includes(failure.kind)) {
        if (absent > 1 || (absent > 0 && fromTaker)) return fail(failure)
      } else if (absent > 1 && !sync && resent < resends) {
        resent++
        return sendTransaction()
      }
      const enough = sync ? looks >= MAX_RECEIPT_LOOKS : absent > 1 || looks >= MAX_LOOKS
      if (enough) return fail(unconfirmed(failure))
      timer = startTimer(lookUp, LOOK_MS)
    })
  }

  /** Looks while the send is still under way: the answer may be what is lost. */
  const watch = (ms: number = LOOK_MS): void => {
    if (ms < 2 ** 31) timer = startTimer(() => (sent && isQueued(sent) ? watch() : lookUp()), ms)
  }

  const judge = (ok: boolean, value: unknown): void => {
    if (ok && (sync ? isReceipt(value) : isHash(value))) return finish(true, value)
    if (!ok && !isKeyrailError(value)) return finish(false, value)
    failure = ok
      ? createFailure(
          { kind: 'badResponse', text: 'the node returned the hash of another transaction' },
          { method, redactedUrl: sentTo ?? redactedUrl },
        )
      : (value as KeyrailError)
    if (isRejectedBeforeRun(failure)) return fail(failure)
    // What was not found before does not count.
    clearTimeout(timer)
    const before = look
    look = undefined
    stop(before)
    looks = absent = 0
    lookUp()
  }

  const sendTransaction = (): void => {
    const sending = record(method, call.params, (at) => (sentTo = at))
    setBelow(call, (sent = sending))
    failure = undefined
    // The deadline may have passed already, where the hash took long.
    watch(Math.max(1, (call.deadlineAt - now()) / 2))
    next(sending, (ok, value) => {
      if (sent !== sending) return
      sent = undefined
      judge(ok, value)
    })
  }

  onCancel(call, (reason) => {
    // The caller's own reason is passed on as it is.
    if (!isKeyrailError(reason, 'timeout') || call.options.signal?.aborted) finish(false, reason, reason)
    else fail(unconfirmed(failure ?? reason), reason)
  })
  sendTransaction()
}
