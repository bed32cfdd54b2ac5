/** Copies a result, which may be a slice of a large body, to bytes that another thread can have. */
export const copyValue = (value: Buffer | string): Uint8Array =>
  new Uint8Array(typeof value === 'string' ? Buffer.from(value, 'latin1') : value)
