import type { MethodTraits } from '../method/createMethodPolicy.ts'
import type { PickOptions } from './chooseUpstream.ts'

/** A call that may be forwarded. */
export interface ForwardedCall {
  /** A name from the method policy, so plain ASCII. */
  readonly method: string
  /** Source text. */
  readonly params: string | undefined
  readonly traits: MethodTraits
  /** Whether it has a private transaction: only upstreams for those may get it. Only the others may get all other calls. @default false */
  readonly isPrivate?: boolean
}

/** Gets what calls need of an upstream. */
export const toPickOptions = (calls: readonly ForwardedCall[], more?: PickOptions): PickOptions => ({
  calls,
  units: getUnits(calls),
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

/**
 * Serializes calls for a node. Missing params become an empty list, because some nodes require one.
 * @param firstId - The wire id of the first. The ids of the others follow.
 */
export const toWireText = (calls: readonly ForwardedCall[], firstId: number, isBatch: boolean): string => {
  let text = ''
  let id = firstId
  for (const { method, params = '[]' } of calls) {
    text += `${text === '' ? '' : ','}{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`
    id += 1
  }
  return isBatch ? `[${text}]` : text
}

/** How many units of a budget calls use. */
export const getUnits = (calls: readonly ForwardedCall[]): number => {
  let units = 0
  for (const { traits } of calls) units += traits.weight
  return units
}
