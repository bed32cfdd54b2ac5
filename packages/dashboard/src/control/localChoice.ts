/** Reads a choice that this browser stores; `undefined` if there is none, or no storage. */
export function readLocalChoice(name: string): string | undefined {
  try {
    return localStorage.getItem(`keyrail-${name}`) ?? undefined
  } catch {
    return undefined
  }
}

/** Stores a choice in this browser. Without storage, it lasts until the page is left. Never for secrets. */
export function storeLocalChoice(name: string, value: string): void {
  try {
    localStorage.setItem(`keyrail-${name}`, value)
  } catch {
    // No storage.
  }
}
