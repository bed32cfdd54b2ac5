/**
 * Responses name the newest block that the key's callers have got from this instance. A caller that sends the number back gets no older one
 * from another instance.
 */
export const blockHeader = 'X-Block-Number'

const decimal = /^\d{1,15}$/

/** Parses the header of a request: a decimal number. Everything else is ignored, as is a header that repeats. */
export const parseBlockHeader = (value: string | readonly string[] | undefined): number | undefined =>
  typeof value === 'string' && decimal.test(value) ? Number(value) : undefined
