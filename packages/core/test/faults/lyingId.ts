import type { Script } from '../faultServer.ts'
import { bodyFor, echoItem } from './answering.ts'
import type { ItemOf } from './answering.ts'

/** The ways in which an answer's id can be a lie. */
export const idLies = ['wrong', 'null', 'text', 'fraction', 'none', 'doubled', 'missing'] as const
export type IdLie = (typeof idLies)[number]

interface Item {
  readonly id: number
}

/** One item, told as a lie: no item, one, or two. */
const lies: Record<IdLie, (item: Item) => readonly object[]> = {
  wrong: (item) => [{ ...item, id: 1_000_000_000 + item.id }],
  null: (item) => [{ ...item, id: null }],
  text: (item) => [{ ...item, id: String(item.id) }],
  fraction: (item) => [{ ...item, id: item.id + 0.5 }],
  none: (item) => [{ ...item, id: undefined }],
  doubled: (item) => [{ ...item, result: 'not this one' }, item],
  missing: () => [],
}

/** Answers, and lies about the id of one call: the only one, or, of a batch, the first. */
export function lyingId(lie: IdLie, itemOf: ItemOf = echoItem): Script {
  return (seen, response) => {
    const [first, ...others] = [bodyFor(seen, itemOf)].flat() as Item[]
    const told = first ? lies[lie](first) : []
    const alone = !Array.isArray(seen.json) && told.length === 1
    response.end(JSON.stringify(alone ? told[0] : [...told, ...others]))
  }
}
