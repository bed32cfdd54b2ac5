import { skipSpace } from '../../lib/json/scanMembers.ts'

/** The place of the quote that ends a string which begins at `at`, or the text's length. */
const endOfString = (text: string, at: number): number => {
  for (let place = text.indexOf('"', at + 1); place !== -1; place = text.indexOf('"', place + 1)) {
    let before = place - 1
    while (text[before] === '\\') before -= 1
    if ((place - 1 - before) % 2 === 0) return place
  }
  return text.length
}

/** A name as Go's JSON reader compares it: it takes `To`, and even `ſ` for `s`, for the same member. */
export const foldName = (name: string): string => name.toUpperCase().toLowerCase()

/**
 * Whether a member's name in a text may be read in two ways.
 * Where an object has two members of one name, which of them counts is each reader's own choice; so is whether `to` and `To` are one.
 * A name with an escape in it is taken for ambiguous as well: in Node 24.21, JSON.parse gives `{"q":1,"\u0061":2}` the name of another text's
 * member, once it has read `{"q":1,"\\":1}`. No client writes such names.
 * @param text - JSON that JSON.parse takes. Keeps its own stack: depth costs no calls.
 */
export const hasAmbiguousName = (text: string): boolean => {
  const open: (Set<string> | undefined)[] = []
  for (let place = 0; place < text.length; place += 1) {
    const letter = text[place]
    if (letter === '{') open.push(new Set())
    else if (letter === '[') open.push(undefined)
    else if (letter === '}' || letter === ']') open.pop()
    else if (letter === '"') {
      const end = endOfString(text, place)
      const names = open.at(-1)
      if (names !== undefined && text[skipSpace(text, end + 1)] === ':') {
        const raw = text.slice(place + 1, end)
        if (raw.includes('\\')) return true
        const name = foldName(raw)
        if (names.has(name)) return true
        names.add(name)
      }
      place = end
    }
  }
  return false
}
