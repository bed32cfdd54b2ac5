/**
 * One element of a compiled phrase: the stems of words that can appear here, or undefined for a gap.
 */
type Element = readonly string[] | undefined

/** A compiled phrase. */
export type Phrase = readonly Element[]

/** A gap spans at most this many words. */
export const MAX_GAP = 6

/** A longer word is an encoded value, not language. */
const MAX_WORD_LENGTH = 24

/** Reduces a word to its stem, so that "exceeds", "exceeded" and "exceeding" are the same word. The stem of a stem is itself. */
export const stem = (word: string): string =>
  word.length > MAX_WORD_LENGTH ? word : word.replace(/^(.{3,}?)(?:s|ed|e|ing)+$/, '$1')

/**
 * Divides a text into words: lower case, without apostrophes, reduced to their stems. `#` is a number of any form, `.` the start or end of a
 * sentence or of the text. Words written together ("AlreadyKnown", "ALREADY_KNOWN") are separated. JSON-RPC method names are left out, because
 * "the method trace_block is not available" is not about a block.
 *
 * @param text - The server's message.
 * @param method - The method of the call, left out even if its name does not look like one.
 * @example
 * toWords("BlockOutOfRange: block 0x1f doesn't exist.", 'eth_call')
 * // ['.', 'block', 'out', 'of', 'rang', 'block', '#', 'doe', 'not', 'exist', '.']
 */
export function toWords(text: string, method: string): string[] {
  const parts = (method ? text.replaceAll(method, ' ') : text)
    .replace(/n['’]t\b|(?:\B)not\b/gi, ' not')
    .replace(/['’`]|\b[a-z\d]+_[a-z]+[A-Z]\w*/g, '')
    .replace(/([a-z])(?=[A-Z])|([A-Z])(?=[A-Z][a-z]{2})/g, '$& ')
    .toLowerCase()
    .match(/[a-z]+|\d[\da-z]*|[.;!?](?=\s|$)|\n/g)
  const words = ['.']
  for (const part of [...(parts ?? []), '.']) {
    const word = /^[a-z]/.test(part) ? stem(part) : /^\d/.test(part) ? '#' : '.'
    // "10,000" is one number, "...\n" is one end.
    if ((word !== '#' && word !== '.') || words.at(-1) !== word) words.push(word)
  }
  return words
}

/**
 * Compiles a phrase of `classification.json`. Its words are separated by spaces. `a/b` is either word, `*` is up to six words of the same
 * sentence, `#` is a number, and `.` is the start or end of a sentence. Words match in all their forms: "block" also matches "blocks".
 *
 * @param phrase - The phrase as it is written in the table.
 * @example
 * wordsContain(toWords('Blocks 1 to 9 were not found', 'eth_getLogs'), compilePhrase('block/header * not found')) // true
 */
export function compilePhrase(phrase: string): Phrase {
  return phrase
    .split(' ')
    .map((element) =>
      element === '*' ? undefined : element.split('/').map((word) => (/^\d/.test(word) ? '#' : stem(word))),
    )
}

/**
 * Checks whether a phrase occurs in a text.
 *
 * @param words - The words of the text, from {@link toWords}.
 * @param phrase - The phrase, from {@link compilePhrase}.
 * @example
 * wordsContain(toWords('over the rate limit', 'eth_call'), compilePhrase('rate limit')) // true
 */
export function wordsContain(words: readonly string[], phrase: Phrase): boolean {
  return words.some((_, start) => matchesAt(words, phrase, start, 0))
}

const matchesAt = (words: readonly string[], phrase: Phrase, at: number, from: number): boolean => {
  if (from === phrase.length) return true
  const stems = phrase[from]
  if (stems) return stems.includes(words[at] as string) && matchesAt(words, phrase, at + 1, from + 1)
  for (let skipped = 0; skipped <= MAX_GAP; skipped++) {
    if (matchesAt(words, phrase, at + skipped, from + 1)) return true
    if (words[at + skipped] === '.' || at + skipped >= words.length) return false
  }
  return false
}
