/** An environment variable that a program reads. */
export interface SnippetVariable {
  readonly name: string
  /** What it contains, such as `the API key`. */
  readonly what: string
  /** Its value. Missing if it is a secret. */
  readonly value?: string
}
