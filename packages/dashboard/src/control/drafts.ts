// What the user has typed and not saved, by record, so that it survives leaving a page, a session that expires and a reload. It ends
// with the tab.
interface StoredDraft {
  readonly value: unknown
  readonly inMemory: boolean
}

const storageName = 'keyrail-drafts'
const listeners = new Set<() => void>()
const { owner: storedOwner, drafts } = load()
let owner = storedOwner

function load(): { readonly owner: string; readonly drafts: Map<string, StoredDraft> } {
  try {
    const stored = JSON.parse(sessionStorage.getItem(storageName) ?? '{}') as {
      owner?: string
      drafts?: [string, unknown][]
    }
    const entries = stored.drafts ?? []
    return {
      owner: stored.owner ?? '',
      drafts: new Map(entries.map(([key, value]) => [key, { value, inMemory: false }])),
    }
  } catch {
    return { owner: '', drafts: new Map() }
  }
}

function changed(): void {
  const stored = [...drafts].flatMap(([key, { value, inMemory }]) => (inMemory ? [] : [[key, value]]))
  try {
    if (stored.length === 0) sessionStorage.removeItem(storageName)
    else sessionStorage.setItem(storageName, JSON.stringify({ owner, drafts: stored }))
  } catch {
    // Without storage, drafts last until the page is reloaded.
  }
  for (const listener of listeners) listener()
}

/** Returns what was typed for a record, or `undefined`. */
export const readDraft = (key: string): unknown => drafts.get(key)?.value

/**
 * Stores what was typed for a record.
 * @param value - `undefined` removes it.
 * @param options.inMemory - Whether a reload loses it: for text that could be a secret. @default false
 */
export function writeDraft(key: string, value: unknown, { inMemory = false }: { inMemory?: boolean } = {}): void {
  if (value === undefined) drafts.delete(key)
  else drafts.set(key, { value, inMemory })
  changed()
}

/** Removes all drafts, such as when the user logs out. */
export function clearDrafts(): void {
  drafts.clear()
  changed()
}

/** Removes the drafts of another account. Call it with the account that is logged in. */
export function claimDrafts(accountId: string): void {
  if (owner === accountId) return
  owner = accountId
  clearDrafts()
}

/** Calls back after each change. @returns A function that stops it. */
export function onDraftsChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
