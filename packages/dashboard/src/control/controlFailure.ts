/** What the control API said instead of an answer, or that it said nothing. */
export class ControlFailure extends Error {
  /** A code of the control API, `unreachable` or `timeout`. */
  readonly code: string
  /** 0 where there was no answer. */
  readonly status: number
  /** What is wrong with what was sent, by field. */
  readonly fields: readonly { readonly field: string; readonly fix: string }[]
  readonly retryAfterMs: number | undefined
  readonly requestId: string | undefined

  constructor(
    message: string,
    facts: {
      readonly code: string
      readonly status: number
      readonly fields?: ControlFailure['fields'] | undefined
      readonly retryAfterMs?: number | undefined
      readonly requestId?: string | undefined
    },
  ) {
    super(message)
    this.name = 'ControlFailure'
    this.code = facts.code
    this.status = facts.status
    this.fields = facts.fields ?? []
    this.retryAfterMs = facts.retryAfterMs
    this.requestId = facts.requestId
  }
}

/** Whether something failed in a way that the control API names. */
export const isControlFailure = (error: unknown, code?: string): error is ControlFailure =>
  error instanceof ControlFailure && (code === undefined || error.code === code)
