/**
 * Bytes or a number as JSON-RPC writes them: `0x` and hex digits.
 * The aliases below are the same type; they document the meaning.
 */
export type Hex = `0x${string}`

/** A 20-byte account address. */
export type Address = Hex

/** A 32-byte hash, topic or storage word. */
export type Hash = Hex

/** Bytes of any length; two digits for each byte. */
export type Bytes = Hex

/** A number with no leading zeros: `0x0`, `0x1b4`. */
export type Quantity = Hex
