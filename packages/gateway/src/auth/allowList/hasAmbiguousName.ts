import { foldName } from '../../lib/json/foldName.ts'
import { skipSpace } from '../../lib/json/scanMembers.ts'

/** Returns the index of the closing quote of the string that starts at `at`, or the text's length. */
const findStringEnd = (text: string, at: number): number => {
  for (let index = text.indexOf('"', at + 1); index !== -1; index = text.indexOf('"', index + 1)) {
    let before = index - 1
    while (text[before] === '\\') before -= 1
    if ((index - 1 - before) % 2 === 0) return index
  }
  return text.length
}

/**
 * Whether JSON decoders may disagree on a member name. If an object has two members with the same name, decoders differ in which one they
 * use, and in whether `to` and `To` are the same. A name with an escape counts as ambiguous too: after parsing `{"q":1,"\\":1}`, JSON.parse in
 * Node 24.21 returns a wrong name for `{"q":1,"\u0061":2}`. No client sends such names.
 * @param text - JSON that JSON.parse accepts. Nesting is not recursive here, so that any depth is safe.
 */
export const hasAmbiguousName = (text: string): boolean => {
  const open: (Set<string> | undefined)[] = []
  for (let index = 0; index < text.length; index += 1) {
    const letter = text[index]
    if (letter === '{') open.push(new Set())
    else if (letter === '[') open.push(undefined)
    else if (letter === '}' || letter === ']') open.pop()
    else if (letter === '"') {
      const end = findStringEnd(text, index)
      const names = open.at(-1)
      if (names !== undefined && text[skipSpace(text, end + 1)] === ':') {
        const raw = text.slice(index + 1, end)
        if (raw.includes('\\')) return true
        const name = foldName(raw)
        if (names.has(name)) return true
        names.add(name)
      }
      index = end
    }
  }
  return false
}
