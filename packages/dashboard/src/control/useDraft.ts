import { useState } from 'react'

/** What is being changed of something that may meanwhile change elsewhere. */
export interface Draft<Value extends object> {
  /** What is to be shown: as it is, but for what was typed. */
  readonly values: Value
  /** What was typed and differs from what is: all that needs to be sent. */
  readonly changes: Partial<Value>
  readonly change: (part: Partial<Value>) => void
  /** Forgets what was typed: it is saved. */
  readonly clear: () => void
}

/** Keeps what was typed beside what is, so that a save changes that alone and undoes nothing that was done in another tab. */
export function useDraft<Value extends object>(source: Value): Draft<Value> {
  const [typed, setTyped] = useState<Partial<Value>>({})
  const differs = (name: string): boolean => {
    const key = name as keyof Value
    return JSON.stringify(typed[key]) !== JSON.stringify(source[key])
  }
  return {
    values: { ...source, ...typed },
    changes: Object.fromEntries(Object.entries(typed).filter(([name]) => differs(name))) as Partial<Value>,
    change: (part) => setTyped((before) => ({ ...before, ...part })),
    clear: () => setTyped({}),
  }
}
