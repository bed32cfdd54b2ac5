/**
 * How many calls a batch may hold, by the words in which a larger one was refused: the largest number in them that is below the size refused
 * and counts no bytes or time; 1 where the server takes no batches at all; undefined where they name no number.
 *
 * @param text - The server's words.
 * @param size - How many calls the refused batch had.
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
  return /not (support|allow|enabl|avail)|disabled|unsupported/i.test(text) ? 1 : undefined
}
