import type { MethodTraits } from '../method/createMethodPolicy.ts'
import type { PickOptions } from './chooseUpstream.ts'

/** A call that may be forwarded. */
export interface ForwardedCall {
  /** A name from the method policy, so plain ASCII. */
  readonly method: string
  /** Source text. */
  readonly params: string | undefined
  readonly traits: MethodTraits
}

/** Gets what a call needs of an upstream. */
export const toPickOptions = ({ method, params, traits }: ForwardedCall, more?: PickOptions): PickOptions => ({
  method,
  params,
  units: traits.weight,
  ...more,
})

let lastWireId = 0

/**
 * Takes consecutive ids for calls to nodes, and returns the first. Calls never keep their callers' ids: those can be anything, and two callers
 * may use the same one.
 */
export const takeWireIds = (count: number): number => {
  const first = lastWireId + count > 999_999_999 ? 1 : lastWireId + 1
  lastWireId = first + count - 1
  return first
}

/** Serializes a call for a node. Missing params become an empty list, because some nodes require one. */
export const toWireText = (call: ForwardedCall, wireId: string | number): string =>
  `{"jsonrpc":"2.0","id":${wireId},"method":"${call.method}","params":${call.params ?? '[]'}}`
