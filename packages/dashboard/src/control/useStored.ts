import { useSyncExternalStore } from 'react'
import { onDraftsChange, readDraft, writeDraft } from './drafts.ts'

/**
 * Like `useState`, for what the user types: the value is stored under a key until it is cleared.
 * @param key - Names the record and the form, such as `app_1/about`.
 * @param options.inMemory - Whether a reload loses it: for text that could be a secret. @default false
 * @returns The value, a function that changes it, and a function that clears it.
 */
export function useStored<Value>(
  key: string,
  initial: Value,
  options?: { readonly inMemory?: boolean },
): readonly [value: Value, change: (value: Value) => void, clear: () => void] {
  const stored = useSyncExternalStore(onDraftsChange, () => readDraft(key))
  return [
    stored === undefined ? initial : (stored as Value),
    (value) => writeDraft(key, value, options),
    () => writeDraft(key, undefined),
  ]
}
