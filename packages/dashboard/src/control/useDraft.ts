import { readDraft } from './drafts.ts'
import { useStored } from './useStored.ts'

/** The unsaved changes of a record that can also change elsewhere. */
export interface Draft<Value extends object> {
  /** The values to show: those of the record, and what was typed. */
  readonly values: Value
  /** What was typed and differs from the record: all that needs to be sent. */
  readonly changes: Partial<Value>
  readonly isDirty: boolean
  /** Whether something that was typed has changed elsewhere since. */
  readonly hasConflict: boolean
  readonly change: (part: Partial<Value>) => void
  /** Discards what was typed, such as after it is saved. */
  readonly clear: () => void
}

interface Typed<Value extends object> {
  readonly values: Partial<Value>
  /** The record's values when the user started to type. */
  readonly base: Partial<Value>
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/**
 * Keeps what was typed separate from the record, so that a save sends only that and reverts nothing that changed elsewhere.
 * @param key - Names the record and the form, such as `app_1/about`.
 */
export function useDraft<Value extends object>(key: string, source: Value): Draft<Value> {
  const noDraft: Typed<Value> = { values: {}, base: {} }
  const [typed, setTyped, clear] = useStored(key, noDraft)
  const names = (Object.keys(typed.values) as (keyof Value)[]).filter(
    (name) => !isSame(typed.values[name], source[name]),
  )
  return {
    values: { ...source, ...typed.values },
    changes: Object.fromEntries(names.map((name) => [name, typed.values[name]])) as Partial<Value>,
    isDirty: names.length > 0,
    hasConflict: names.some((name) => !isSame(typed.base[name], source[name])),
    change: (part) => {
      // Two changes can come before the next render.
      const before = (readDraft(key) as Typed<Value> | undefined) ?? noDraft
      const base = Object.fromEntries(Object.keys(part).map((name) => [name, source[name as keyof Value]]))
      setTyped({ values: { ...before.values, ...part }, base: { ...base, ...before.base } as Partial<Value> })
    },
    clear,
  }
}
