/** A page of the API reference. */
export interface ApiPage {
  /** Its path in the site, such as `api/fetch.md`. */
  readonly path: string
  readonly title: string
  readonly markdown: string
}
