import type { ControlFailure } from './controlFailure.ts'
import { sentence } from './sentence.ts'

/** `limits.perDay` as `per day`. */
const wordsOf = (field: string): string =>
  (field.split('.').at(-1) ?? '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/**
 * Why a form did not work, each fault once.
 * @param shown - The fields that show their own faults.
 * @param titles - What the page calls fields that show none.
 * @returns Nothing where each fault stands at its field.
 */
export function toProblem(
  { code, message, fields }: Pick<ControlFailure, 'code' | 'message' | 'fields'>,
  shown: readonly string[],
  titles: Readonly<Record<string, string>> = {},
): string | undefined {
  if (code === 'version_conflict')
    return 'This was changed elsewhere. The latest version is shown now: check your changes, then save again.'
  const others = fields.filter(({ field }) => !shown.includes(field))
  if (fields.length > 0 && others.length === 0) return undefined
  // This code's message is its fields in one line, by the names that programs know them by.
  if (code !== 'invalid' || others.length === 0) return sentence(message)
  return others.map(({ field, fix }) => sentence(`${titles[field] ?? wordsOf(field)} ${fix}`.trim())).join(' ')
}
