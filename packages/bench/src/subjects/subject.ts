/** One way to make calls, opened on one address. */
export interface Subject {
  readonly call: (method: string, params: readonly unknown[]) => Promise<unknown>
  /** Many calls at once, where the subject has a way of its own for that; else each goes by `call`. */
  readonly wave?: (method: string, params: readonly (readonly unknown[])[]) => Promise<unknown[]>
  readonly close: () => void
}

/** A module of this folder: opens itself on an address. */
export type OpenSubject = (url: string) => Subject | Promise<Subject>
