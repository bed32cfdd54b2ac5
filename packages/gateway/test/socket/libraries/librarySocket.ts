/** The events that a library delivered, as its users see them. */
export type SocketEvent =
  | { readonly kind: 'head'; readonly number: number; readonly hash?: string | undefined }
  | { readonly kind: 'log'; readonly hash: string; readonly removed: boolean }
  | { readonly kind: 'pending'; readonly hash: string }

/** A client of a library, which has subscribed to heads, logs and pending transactions in the way that its documentation shows. */
export interface LibraryClient {
  /** The result of `eth_blockNumber` over the same socket. */
  readonly blockNumber: number
  readonly events: readonly SocketEvent[]
  /** What the library reported as failures. */
  readonly errors: readonly string[]
  readonly close: () => Promise<void> | void
}

/** Opens a WebSocket with a library's own means. */
export type OpenLibrarySocket = (url: string) => Promise<LibraryClient>
