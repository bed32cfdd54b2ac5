// Keys that this page has shown, so that each is requested once. In memory only: they outlive neither the page nor the session.
const shown = new Map<string, string>()

/** Stores a key that the control API returned, by the id of its app or API key. */
export function keepKey(id: string, apiKey: string): void {
  shown.set(id, apiKey)
}

/** Returns the stored key; `undefined` if it has been rotated since, so that its last four characters differ. */
export function getStoredKey(id: string, ending: string): string | undefined {
  const key = shown.get(id)
  return key?.endsWith(ending) ? key : undefined
}

/** Forgets all keys: the session has ended. */
export function forgetKeys(): void {
  shown.clear()
}
