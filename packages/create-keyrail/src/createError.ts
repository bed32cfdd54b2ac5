/** A failure that the user can fix. */
export class CreateError extends Error {
  declare readonly hint: string

  /**
   * @param message - What happened.
   * @param hint - How to fix it.
   */
  constructor(message: string, hint: string) {
    super(message)
    this.name = 'CreateError'
    this.hint = hint
  }
}
