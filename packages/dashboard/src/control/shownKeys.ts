// Keys that were shown in this page, so that each is asked for once. In memory only: nothing of it outlives the page or the session.
const shown = new Map<string, string>()

/** Keeps a key that the control API gave, by the id of its app or API key. */
export function keepKey(id: string, apiKey: string): void {
  shown.set(id, apiKey)
}

/** A key that was kept, unless it has been rotated since, which its last four characters tell. */
export function keptKey(id: string, ending: string): string | undefined {
  const key = shown.get(id)
  return key?.endsWith(ending) ? key : undefined
}

/** Forgets all keys: the session has ended. */
export function forgetKeys(): void {
  shown.clear()
}
