import { useReducer } from 'react'
import { keepKey, getStoredKey } from '../control/shownKeys.ts'
import { useMay } from '../control/useMay.ts'

/** A key that a page may show. */
export interface KeyHolder {
  /** Its placeholder. */
  readonly masked: string
  /** The key, if it was shown already. */
  readonly stored: string | undefined
  /** Whether the service shows it again. */
  readonly canReveal: boolean
  /** If it does not: why, and how to get the key. */
  readonly hint: string
  /** Returns the key, from memory or from the service. */
  readonly reveal: (password?: string) => Promise<string>
  /** Whether a pasted text may be the key: it has the key's form and its last characters. */
  readonly accepts: (apiKey: string) => boolean
  /** Stores a pasted key in memory. @returns The key. */
  readonly store: (apiKey: string) => string
}

/** Whether the page can show and copy the key. */
export const canShowKey = ({ canReveal, stored }: KeyHolder): boolean => canReveal || stored !== undefined

/** Holds the key of an app or an API key while the page is open, and requests it when it is first needed. */
export function useKeyHolder(options: {
  readonly id: string
  readonly prefix: 'kr_a' | 'kr_t' | 'kr_m'
  readonly ending: string
  readonly revealable: boolean
  readonly reveal: (password?: string) => Promise<{ readonly apiKey: string }>
}): KeyHolder {
  const { id, prefix, ending, revealable, reveal } = options
  const mayReveal = useMay()('reveal')
  const [, renew] = useReducer((count: number) => count + 1, 0)
  const store = (apiKey: string): string => {
    keepKey(id, apiKey)
    renew()
    return apiKey
  }
  return {
    masked: `${prefix}…${ending}`,
    stored: getStoredKey(id, ending),
    canReveal: revealable && mayReveal,
    hint: mayReveal
      ? 'This service stores no copy of keys. Use the key that you saved, or rotate the key to get a new one.'
      : 'Your role in this team does not show keys. Ask a developer of the team for the key.',
    reveal: async (password) => {
      const stored = getStoredKey(id, ending)
      if (stored !== undefined) return stored
      const { apiKey } = await reveal(password)
      return store(apiKey)
    },
    accepts: (apiKey) =>
      /^kr_[atm][0-9A-Za-z]{39}$/.test(apiKey) && apiKey.startsWith(prefix) && apiKey.endsWith(ending),
    store,
  }
}
