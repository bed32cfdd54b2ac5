import { toMeaning } from '@keyrail/core/internal'

/** Writes a result so that results that mean the same are the same text; `undefined` if it cannot be compared. @param text - JSON. */
export const getMeaning = (text: string, method: string): string | undefined => {
  try {
    return toMeaning(JSON.parse(text), method)
  } catch {
    return undefined
  }
}
