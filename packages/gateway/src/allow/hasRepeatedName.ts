import { skipSpace } from '../json/scanMembers.ts'

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

const exactName = (name: string): string => name

/**
 * Whether any object in a text has two members of one name. Which of them counts is each reader's own choice, so a check of one says
 * nothing of what another reader does.
 * @param text - JSON that JSON.parse takes. Keeps its own stack: depth costs no calls.
 * @param options.fold - Names that differ only in case are the same (`foldName`). @default false
 */
export const hasRepeatedName = (text: string, { fold = false }: { fold?: boolean } = {}): boolean => {
  const toKey = fold ? foldName : exactName
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
        const name = toKey(String(JSON.parse(text.slice(place, end + 1))))
        if (names.has(name)) return true
        names.add(name)
      }
      place = end
    }
  }
  return false
}
