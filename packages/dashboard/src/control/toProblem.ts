import type { ControlFailure } from './controlFailure.ts'
import { sentence } from './sentence.ts'

/** `limits.perDay` as `per day`. */
const toWords = (field: string): string =>
  (field.split('.').at(-1) ?? '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/**
 * Describes why a form failed, each problem once.
 * @param shown - The fields that show their own problems.
 * @param titles - The titles of the other fields.
 * @returns `undefined` if each problem is shown at its field.
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
  // The message of this code lists the fields by their API names.
  if (code !== 'invalid' || others.length === 0) return sentence(message)
  return others.map(({ field, fix }) => sentence(`${titles[field] ?? toWords(field)} ${fix}`.trim())).join(' ')
}
