/** Longer results are not empty: white space is short. */
const maxLength = 32

/** What a node also responds with that does not have the data yet. */
const empty = /^\s*(?:\[\s*\]|"0x")\s*$/

/** Whether a result is empty: a list, or bytes. */
export const isEmptyResult = (value: Buffer | string): boolean =>
  value.length <= maxLength && empty.test(value.toString('latin1'))

/** Results that say nothing. */
const nothing = /^\s*(?:null|\{\s*\})\s*$/

/** Whether a result is `null` or an empty object. */
export const saysNothing = (value: Buffer | string): boolean =>
  value.length <= maxLength && nothing.test(value.toString('latin1'))
