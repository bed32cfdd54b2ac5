/** A way to make calls, opened for a URL. */
export interface Subject {
  readonly call: (method: string, params: readonly unknown[]) => Promise<unknown>
  /** Makes many calls at once, if the subject supports that. Otherwise `call` makes each. */
  readonly wave?: (method: string, params: readonly (readonly unknown[])[]) => Promise<unknown[]>
  readonly close: () => void
}

/** Opens a subject for a URL. */
export type OpenSubject = (url: string) => Subject | Promise<Subject>
