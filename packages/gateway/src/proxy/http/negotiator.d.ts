// @types/negotiator lacks the option `preferred`.
declare module 'negotiator' {
  export default class Negotiator {
    constructor(request: { readonly headers: Readonly<Record<string, string>> })
    /** @param options.preferred - The order of encodings that the client accepts with the same weight. */
    encoding(available: readonly string[], options?: { readonly preferred?: readonly string[] }): string | undefined
  }
}
