import { stripControlCharacters } from '../output/stripControlCharacters.ts'
import type { ActionResult } from './action.ts'

/** Creates the result of `list --names`: one name per line. */
export function listNames(items: readonly { readonly name: string }[]): ActionResult {
  const names = items.map(({ name }) => stripControlCharacters(name))
  return { json: { names }, lines: names }
}
