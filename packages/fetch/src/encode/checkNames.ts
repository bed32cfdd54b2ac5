import { refused } from './refused.ts'

/**
 * Refuses options of which one has a name that does not exist: misspelt, it would be ignored.
 *
 * @param of - Whose options they are, for the failure's message.
 * @param options - What was given.
 * @param names - Every name there is.
 * @throws {KeyrailError} kind `invalidRequest`, naming what was given and what there is.
 */
export function checkNames(of: string, options: object, names: readonly string[]): void {
  if (typeof options !== 'object' || options === null) throw refused(`${of} takes an object of options`)
  for (const name in options)
    if (!names.includes(name)) throw refused(`${name} is no option of ${of}, which are ${names.join(', ')}`)
}
