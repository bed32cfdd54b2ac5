/** Something in front of the node, and the paths by which it may be asked, by what becomes of the question. */
export interface Target {
  readonly url: string
  readonly paths: Readonly<Record<string, readonly string[]>>
  /** What is sent with them, where that is not all alike. */
  readonly headers?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The service that some of them are sent to, if the process has another one for these. @default url */
  readonly urls?: Readonly<Record<string, string>>
}
