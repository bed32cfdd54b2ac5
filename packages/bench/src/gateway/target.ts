/** A server in front of the node, with its paths by what happens to requests: `accepted`, or the reason of a rejection. */
export interface Target {
  readonly url: string
  readonly paths: Readonly<Record<string, readonly string[]>>
  /** Headers for some of the paths. */
  readonly headers?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The URL for some of the paths, if the process has a second service. @default url */
  readonly urls?: Readonly<Record<string, string>>
}
