/** A call whose result is stored. */
export interface StoredCall {
  readonly method: string
  /** Source text, in the one spelling that the store uses. */
  readonly params: string
  /** The client of the node whose trace this is. */
  readonly client?: string | undefined
}

/** Gets the text that a result is found by. */
export const toEntryText = (chain: string, { method, params, client }: StoredCall): string =>
  `${chain} ${method} ${params}${client === undefined ? '' : ` ${client}`}`

const isCall = (value: unknown): value is StoredCall => {
  const { method, params, client = '' } = (value ?? {}) as Partial<Record<keyof StoredCall, unknown>>
  return [method, params, client].every((member) => typeof member === 'string')
}

/** Reads the call of an entry with a key. @returns `undefined` if it is damaged: another call, or none. */
export const readStoredCall = (
  text: string,
  { chain, isKey }: { readonly chain: string; readonly isKey: (text: string) => boolean },
): StoredCall | undefined => {
  try {
    const call: unknown = JSON.parse(text)
    return isCall(call) && isKey(toEntryText(chain, call)) ? call : undefined
  } catch {
    return undefined
  }
}
