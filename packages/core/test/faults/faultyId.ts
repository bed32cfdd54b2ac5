import type { Script } from '../faultServer.ts'
import { bodyFor, echoItem } from './respondWith.ts'
import type { GetItem } from './respondWith.ts'

/** What can be wrong with the id of a response. */
export const idFaults = ['wrong', 'null', 'text', 'fraction', 'none', 'doubled', 'missing'] as const
export type IdFault = (typeof idFaults)[number]

interface Item {
  readonly id: number
}

/** Creates the responses to one call for each fault: none, one or two. */
const faults: Record<IdFault, (item: Item) => readonly object[]> = {
  wrong: (item) => [{ ...item, id: 1_000_000_000 + item.id }],
  null: (item) => [{ ...item, id: null }],
  text: (item) => [{ ...item, id: `call ${item.id}` }],
  fraction: (item) => [{ ...item, id: item.id + 0.5 }],
  none: (item) => [{ ...item, id: undefined }],
  doubled: (item) => [{ ...item, result: 'not this one' }, item],
  missing: () => [],
}

/** Responds with a faulty id to one call: the only one, or the first of a batch. */
export function faultyId(fault: IdFault, getItem: GetItem = echoItem): Script {
  return (seen, response) => {
    const [first, ...others] = [bodyFor(seen, getItem)].flat() as Item[]
    const faulty = first ? faults[fault](first) : []
    const isSingle = !Array.isArray(seen.json) && faulty.length === 1
    response.end(JSON.stringify(isSingle ? faulty[0] : [...faulty, ...others]))
  }
}
