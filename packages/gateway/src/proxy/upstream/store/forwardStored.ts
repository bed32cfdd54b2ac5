import type { CallScope, SendCall, SendOptions } from '../callScope.ts'
import type { CallDone, CallResult } from '../callResult.ts'
import { isRejection } from '../../../errors/rejection.ts'
import { rejections } from '../../../errors/rejections.ts'
import { forwardRead } from '../logs/forwardLogs.ts'
import { forwardStoredLogs } from '../logs/forwardStoredLogs.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import { payForResult } from '../payForResult.ts'
import type { SharedRead } from '../sharedRead.ts'
import { isStored, storeResult, toStoredTexts } from './storedRead.ts'
import { teeStream } from './teeStream.ts'

/** Reads the stored result of a call, and counts its bytes for the request. Leaves a node at least half of the time. */
export const readStored = async (
  call: ForwardedCall,
  scope: CallScope,
  { read, deadlineMs }: { readonly read: SharedRead | undefined; readonly deadlineMs: number },
): Promise<CallResult | undefined> => {
  const { store, cache } = scope.group
  const chain = store?.getChain()
  const version = store?.getVersion()
  if (store === undefined || chain === undefined || !isStored(call, read)) return undefined
  const texts = toStoredTexts(store, chain, call)
  const found = await Promise.all(texts.map((text) => store.store.readEntry(text, { waitMs: deadlineMs / 2 })))
  const bytes = store.getVersion() === version ? found.find((one) => one !== undefined) : undefined
  const value = bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (value !== undefined && read?.isTrace === false && cache.on) cache.set(read.key, value)
  const paid = value && payForResult({ member: 'result', value, cachedIn: 'store' }, scope)
  // What cannot be paid for may still be streamed from a node.
  const result = paid === undefined || isRejection(paid) ? undefined : paid
  store.count(call.method, result === undefined ? 'miss' : 'hit')
  return result
}

/**
 * Responds to a read with what is stored of it. Not for logs.
 * @param use.send - Sends it to a node if nothing is stored, with the options for the time that is left.
 * @returns `undefined` if the store cannot have its result, or was found not to have it: then nothing is called.
 */
export const respondStored = (
  call: ForwardedCall,
  scope: CallScope,
  options: SendOptions,
  { send, done }: { readonly send: (options: SendOptions) => () => void; readonly done: CallDone },
): (() => void) | undefined => {
  const { read, isMissing, deadlineMs: givenMs = scope.timeoutMs } = options
  const chain = scope.group.store?.getChain()
  if (isMissing === true || chain === undefined || !isStored(call, read)) return undefined
  const endsAt = performance.now() + givenMs
  let isStopped = false
  let stop = (): void => {}
  void readStored(call, scope, { read, deadlineMs: givenMs }).then((found) => {
    const deadlineMs = endsAt - performance.now()
    if (isStopped) return
    if (found !== undefined) done(found)
    else if (deadlineMs <= 0) done(rejections.upstreamTimeout(scope.timeoutMs))
    else stop = send({ ...options, deadlineMs })
  })
  return () => {
    isStopped = true
    stop()
  }
}

/** Forwards a read, and stores its result, also if it is streamed to the caller. */
export const forwardAndStore: SendCall = (call, scope, options, done) => {
  const { store } = scope.group
  const { read } = options
  if (store === undefined || read === undefined || !isStored(call, read)) return forwardRead(call, scope, options, done)
  return forwardRead(call, scope, options, (result, member) => {
    const keep = (response: CallResult): void => void storeResult(store, { call, read }, { result: response, member })
    if (!('stream' in result)) {
      keep(result)
      done(result, member)
      return
    }
    const isStorable = member !== undefined && store.getStorable(member, read.startedAt) !== undefined
    const stream = isStorable
      ? teeStream(result.stream, scope.budget.buffered, (bytes) =>
          keep({ member: 'result', value: Buffer.from(bytes) }),
        )
      : result.stream
    done({ ...result, stream }, member)
  })
}

/** Responds to a read with what is stored, or forwards it and stores its result. */
export const forwardStored: SendCall = (call, scope, options, done) => {
  const { store } = scope.group
  const stop =
    store !== undefined && call.method === 'eth_getLogs'
      ? forwardStoredLogs(store, call, scope, options, done)
      : respondStored(call, scope, options, { send: (own) => forwardAndStore(call, scope, own, done), done })
  return stop ?? forwardAndStore(call, scope, options, done)
}
