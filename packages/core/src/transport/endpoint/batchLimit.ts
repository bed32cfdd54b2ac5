import { compilePhrase, toWords, wordsContain } from '../../failure/phrase.ts'
import type { Phrase } from '../../failure/phrase.ts'

/** Phrases of servers that accept no batches at all, however small. */
const noBatchesPhrases: readonly string[] = ['not support/allow/enable/available', 'disabled', 'unsupported']

const containsAny = (text: string, phrases: readonly string[]): boolean => {
  const words = toWords(text, '')
  return phrases.some((phrase) => wordsContain(words, compile(phrase)))
}

const compiled = /* @__PURE__ */ new Map<string, Phrase>()

const compile = (phrase: string): Phrase => {
  let found = compiled.get(phrase)
  if (!found) compiled.set(phrase, (found = compilePhrase(phrase)))
  return found
}

/**
 * Checks whether a message about a size is about the number of calls in the batch. A message without the word is about the size of the body.
 *
 * @param text - The server's message.
 */
export function mentionsBatch(text: string): boolean {
  return containsAny(text, ['batch'])
}

/**
 * Parses how many calls a server accepts in a batch from the message with which it rejected a larger one.
 *
 * @param text - The server's message.
 * @param size - How many calls the rejected batch had.
 * @returns The largest number in the message that is below `size` and is not followed by a unit of bytes or time; 1 if the server accepts no batches
 * at all; undefined if the message names no number.
 * @example
 * batchLimit('Batch of more than 3 requests are not allowed on free tier', 100) // 3
 * batchLimit('batch too large', 100) // undefined
 */
export function batchLimit(text: string, size: number): number | undefined {
  const numbers = text.matchAll(
    /(?:^|[^\w.-])(\d[\d,]*)(?!\w|[.,]\d| ?(?:%|(?:[kmgt]i?b|\w*bytes?|m?s|sec\w*|min\w*)\b))/gi,
  )
  const named = [...numbers]
    .map(([, digits = '']) => Number(digits.replaceAll(',', '')))
    .filter((number) => number > 0 && number < size)
  if (named.length > 0) return Math.max(...named)
  return containsAny(text, noBatchesPhrases) ? 1 : undefined
}
