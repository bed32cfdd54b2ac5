import { scanItems, scanMembers } from '../../../lib/json/scanMembers.ts'
import type { Span } from '../../../lib/json/scanMembers.ts'
import { toHex } from '../../../lib/rpc/quantity.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import { parseMembers } from '../findPinnedBlock.ts'

/** A name of a block that each node reads as another one. */
export type Tag = 'latest' | 'safe' | 'finalized'

/** A tag in the params of a call, or the place of a param that is `latest` by default. */
interface TagPlace extends Span {
  readonly tag: Tag
  /** The text before and after the number that replaces it. */
  readonly before: string
  readonly after: string
}

const tagged = /^"(latest|safe|finalized)"$/

/** Finds the tags by which a call names its blocks. Params that a node might read differently have none. */
export const findTags = ({ params = '[]', traits: { row } }: ForwardedCall): readonly TagPlace[] => {
  const at = row?.block ?? row?.range
  const scanned = at === undefined ? undefined : scanItems(params)
  if (at === undefined || scanned === undefined) return []
  const item = scanned.items[at]
  if (item === undefined) {
    // Only a param after all others can be left out.
    if (row?.block === undefined || scanned.count !== at) return []
    return [{ start: scanned.end - 1, end: scanned.end - 1, tag: 'latest', before: at === 0 ? '' : ',', after: '' }]
  }
  const source = params.slice(item.start, item.end)
  if (source[0] !== '{') return toPlaces(source, item.start)
  const members = parseMembers(source)
  if (members === undefined || members.has('blockHash')) return []
  return findInObject(source, item.start, row?.range === undefined ? ['blockNumber'] : ['fromBlock', 'toBlock'], {
    mayBeMissing: row?.range !== undefined,
  })
}

const toPlaces = (source: string, start: number): readonly TagPlace[] => {
  const tag = tagged.exec(source)?.[1] as Tag | undefined
  return tag === undefined ? [] : [{ start, end: start + source.length, tag, before: '', after: '' }]
}

/** Finds tags in the members of an object. @param offset - Where the object starts in the params. */
const findInObject = (
  source: string,
  offset: number,
  names: readonly string[],
  { mayBeMissing }: { mayBeMissing: boolean },
): readonly TagPlace[] => {
  const members = scanMembers(source)?.members ?? []
  const places = names.flatMap((name): readonly TagPlace[] => {
    const member = members.find((one) => one.name === name)
    if (member !== undefined) return toPlaces(source.slice(member.start, member.end), offset + member.start)
    if (!mayBeMissing) return []
    const at = offset + 1
    return [{ start: at, end: at, tag: 'latest', before: `"${name}":`, after: ',' }]
  })
  // The comma after the last member that is added to an empty object.
  const last = places.at(-1)
  if (members.length > 0 || last === undefined) return places
  return [...places.slice(0, -1), { ...last, after: '' }]
}

/** Replaces the tags of a call by numbers of blocks. */
export const replaceTags = (
  call: ForwardedCall,
  places: readonly TagPlace[],
  blocks: ReadonlyMap<Tag, number>,
): ForwardedCall => {
  const { params = '[]' } = call
  let text = ''
  let from = 0
  for (const { start, end, tag, before, after } of places.toSorted((one, other) => one.start - other.start)) {
    text += `${params.slice(from, start)}${before}"${toHex(blocks.get(tag) ?? 0)}"${after}`
    from = end
  }
  return { ...call, params: text + params.slice(from) }
}
