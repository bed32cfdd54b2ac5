/** What a sealed key is bound to. */
export interface KeyOwner {
  /** The id of the key's row. */
  readonly id: string
  readonly userId: string
}

/** How a sealed key is put together; lengths in bytes. */
export const sealedParts = {
  version: 1,
  nonce: 12,
  tag: 16,
  /** What is signed along, and not kept: as a list, so that no two owners read the same. */
  bound: ({ id, userId }: KeyOwner, version: number): Buffer => Buffer.from(JSON.stringify([version, id, userId])),
} as const
