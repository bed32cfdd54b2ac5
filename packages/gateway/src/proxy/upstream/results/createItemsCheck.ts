import { copyText } from '../../../lib/copyText.ts'
import { scanMembers } from '../../../lib/json/scanMembers.ts'
import type { Member } from '../../../lib/json/scanMembers.ts'

/**
 * Checks the source text of a result, in parts as they arrive. It accepts anything that it cannot read: nodes differ, and a response that is not JSON is found
 * elsewhere.
 * @returns False once the result cannot be that of the call.
 */
export type ResultCheck = (part: string) => boolean

/** A longer item is not checked, and neither are those after it: its start is kept until the rest arrives. */
const maxItemLength = 256 * 1024

const isBetweenItems = (code: number): boolean => code === 44 || code === 91 || code === 32 || (code >= 9 && code <= 13)

/** Creates a check of the objects in a list. @param accepts - Whether an object, whose members are at positions of the text, can be in it. */
export const createItemsCheck = (accepts: (text: string, members: readonly Member[]) => boolean): ResultCheck => {
  let rest = ''
  let isOver = false
  return (part) => {
    if (isOver) return true
    const text = rest + part
    let at = 0
    for (;;) {
      while (isBetweenItems(text.charCodeAt(at))) at += 1
      if (at === text.length) break
      if (text[at] !== '{') isOver = true
      const scanned = isOver ? undefined : scanMembers(text, at)
      if (scanned === undefined) break
      if (!accepts(text, scanned.members)) return false
      at = scanned.end
    }
    if (text.length - at > maxItemLength) isOver = true
    rest = isOver ? '' : copyText(text.slice(at))
    return true
  }
}
