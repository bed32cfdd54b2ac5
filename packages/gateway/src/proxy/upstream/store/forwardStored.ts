import type { SendCall } from '../../call/callScope.ts'
import { isRejection } from '../../../errors/rejection.ts'
import { rejections } from '../../../errors/rejections.ts'
import type { CallResult } from '../callResult.ts'
import type { GroupMember } from '../groupMember.ts'
import type { NodeResponse } from '../readResponse.ts'
import type { UpstreamGroup } from '../createUpstreamGroup.ts'
import { forwardRead } from '../logs/forwardLogs.ts'
import { forwardStoredLogs } from '../logs/forwardStoredLogs.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import { payForResult } from '../payForResult.ts'
import type { SharedRead } from '../sharedRead.ts'
import { storeResult, toStoredText } from './storedRead.ts'

/** Reads the stored result of a call. Leaves a node at least half of the time. */
export const readStored = async (
  { store, cache }: UpstreamGroup,
  call: ForwardedCall,
  { read, deadlineMs }: { readonly read: SharedRead | undefined; readonly deadlineMs: number },
): Promise<NodeResponse | undefined> => {
  const chain = store?.getChain()
  const text = chain && toStoredText(chain, call, read)
  if (store === undefined || text === undefined) return undefined
  const found = await store.store.readEntry(text, { waitMs: deadlineMs / 2 })
  const bytes = store.getChain() === chain ? found : undefined
  store.count(call.method, bytes === undefined ? 'miss' : 'hit')
  if (bytes === undefined) return undefined
  const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (read !== undefined && cache.on) cache.set(read.key, value)
  return { member: 'result', value, cachedIn: 'store' }
}

/** Stores the result of a call. */
export const storeRead = (
  { store }: UpstreamGroup,
  call: ForwardedCall,
  read: SharedRead,
  end: { readonly result: CallResult; readonly member: GroupMember | undefined },
): void => {
  if (store !== undefined) storeResult(store, { call, read }, end)
}

/** Responds to a read with what is stored, or forwards it and stores its result. */
export const forwardStored: SendCall = (call, scope, options, done) => {
  const { store } = scope.group
  const { read } = options
  const chain = store?.getChain()
  if (store === undefined || chain === undefined) return forwardRead(call, scope, options, done)
  if (call.method === 'eth_getLogs')
    return forwardStoredLogs(store, call, scope, options, done) ?? forwardRead(call, scope, options, done)
  if (read === undefined || toStoredText(chain, call, read) === undefined)
    return forwardRead(call, scope, options, done)
  const { deadlineMs: givenMs = scope.timeoutMs } = options
  const endsAt = performance.now() + givenMs
  let isStopped = false
  let stop = (): void => {}
  void readStored(scope.group, call, { read, deadlineMs: givenMs }).then((found) => {
    const deadlineMs = endsAt - performance.now()
    if (isStopped) return
    const paid = found && payForResult(found, scope)
    // What cannot be paid for may still be streamed from a node.
    if (paid !== undefined && !isRejection(paid)) done(paid)
    else if (deadlineMs <= 0) done(rejections.upstreamTimeout(scope.timeoutMs))
    else
      stop = forwardRead(call, scope, { ...options, deadlineMs }, (result, member) => {
        storeResult(store, { call, read }, { result, member })
        done(result, member)
      })
  })
  return () => {
    isStopped = true
    stop()
  }
}
