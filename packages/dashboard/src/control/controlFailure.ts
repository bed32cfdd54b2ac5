/** An error response of the control API, or no response. */
export class ControlFailure extends Error {
  /** A code of the control API, `unreachable` or `timeout`. */
  readonly code: string
  /** 0 if there was no response. */
  readonly status: number
  /** The problems of the input, by field. */
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

/** Checks that an error is a failure of a control API call. */
export const isControlFailure = (error: unknown, code?: string): error is ControlFailure =>
  error instanceof ControlFailure && (code === undefined || error.code === code)
