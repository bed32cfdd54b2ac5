import { createFailure } from '../failure/createFailure.ts'
import type { BatchFn } from '../schema/batch.ts'
import { createBatchRequest } from './batchRequest.ts'
import type { Dispatch } from './createDispatch.ts'
import type { TransportGroup } from './fullTransport.ts'
import type { Stack } from './stack.ts'

/**
 * Opens a group: a transport of its own, whose calls are all asked of one endpoint.
 *
 * @param stack - What carries the calls.
 */
export function createGroup<Rpc>({ redactedUrl, dispatch, end }: Stack): TransportGroup<Rpc> {
  const group = {}
  let closed = false
  const within: Dispatch = (args, options, together) => {
    if (!closed) return dispatch(args, options, { ...together, group })
    const facts = { kind: 'aborted', text: 'the group is closed' } as const
    return Promise.reject(createFailure(facts, { method: String(Object(args).method), redactedUrl }))
  }
  const close = (): void => {
    closed = true
    end(group)
  }
  return Object.freeze({
    redactedUrl,
    request: within,
    batch: createBatchRequest(within) as BatchFn<Rpc>,
    close,
    [Symbol.asyncDispose]: async () => close(),
  })
}
