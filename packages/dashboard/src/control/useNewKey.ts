import { useDialogs } from '../parts/dialogs.ts'
import { keepKey } from './shownKeys.ts'

/** A key that was just created. */
export interface NewKey {
  /** The id of its app or API key. */
  readonly id: string
  /** A secret. */
  readonly apiKey: string
  /** Whether the service can show it again. */
  readonly revealable: boolean
}

/**
 * Returns a function that takes in a new key. If the service cannot show the key again, it resolves once the user has saved the key.
 * @param options.always - Shows the key in any case, because the page has no other place for it. @default false
 */
export function useNewKey({ always = false }: { readonly always?: boolean } = {}): (key: NewKey) => Promise<void> {
  const { showNewKey } = useDialogs()
  return async ({ id, apiKey, revealable }) => {
    keepKey(id, apiKey)
    if (always || !revealable) await showNewKey(apiKey, { revealable })
  }
}
