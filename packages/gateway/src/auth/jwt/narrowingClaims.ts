import { foldName } from '../allowList/hasAmbiguousName.ts'
import { compileAllowList } from '../allowList/compileAllowList.ts'
import type { AllowList } from '../allowList/compileAllowList.ts'

const types = ['methods', 'addresses', 'origins'] as const

/**
 * Reads the claims by which a token narrows what it may be used for: `methods`, `addresses`, `origins`, each a list of entries as in an app's
 * allow list. It can only narrow: whoever signs tokens does not make the app's rules.
 * @returns `undefined` where there is none; or the name of a claim that cannot be read, which must not pass for one that is not there.
 */
export const readNarrowingClaims = (
  claims: Readonly<Record<string, unknown>>,
): AllowList | undefined | { bad: string } => {
  // `Methods` was meant to narrow too, and must not pass for a claim that is not there.
  const misspelt = Object.keys(claims).find((name) => types.some((type) => name !== type && foldName(name) === type))
  if (misspelt !== undefined) return { bad: `${foldName(misspelt)}, whose name must be in lower case,` }
  const present = types.filter((type) => Object.hasOwn(claims, type))
  if (present.length === 0) return undefined
  const entries: Partial<Record<(typeof types)[number], readonly { value: string }[]>> = {}
  for (const type of present) {
    const values = claims[type]
    // Of an app's list an empty one restricts nothing; of a token's that would be a guess.
    if (!Array.isArray(values) || values.length === 0) return { bad: type }
    entries[type] = values.map((value) => ({ value: value as string }))
  }
  try {
    return compileAllowList(entries)
  } catch {
    return { bad: present.length === 1 ? (present[0] ?? '') : present.join(', ') }
  }
}
