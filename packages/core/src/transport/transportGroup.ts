import { createFailure } from '../failure/createFailure.ts'
import type { Dispatch } from './call/createDispatch.ts'
import type { Stack } from './stack.ts'
import type { Transport } from './transport.ts'

/** A group, and its dispatch for features that add methods. */
export interface Group {
  readonly transport: Transport
  readonly dispatch: Dispatch
}

/**
 * Creates a transport whose calls all go to one endpoint.
 *
 * @param stack - Sends the calls.
 */
export function createGroup({ redactedUrl, dispatch, end }: Stack): Group {
  const group = {}
  let closed = false
  const dispatchInGroup: Dispatch = (args, options, together) => {
    if (!closed) return dispatch(args, options, { ...together, group })
    const facts = { kind: 'aborted', text: 'the group is closed' } as const
    return Promise.reject(createFailure(facts, { method: String(Object(args).method), redactedUrl }))
  }
  const close = (): void => {
    closed = true
    end(group)
  }
  return {
    transport: { redactedUrl, request: dispatchInGroup, close, [Symbol.asyncDispose]: async () => close() },
    dispatch: dispatchInGroup,
  }
}
