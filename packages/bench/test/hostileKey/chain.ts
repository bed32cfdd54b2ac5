/** How long a block takes, in milliseconds. */
export const blockMs = 1_000
/** The logs of each block, all of one contract. */
export const logsPerBlock = 400
/** The contract. */
export const hot = `0x${'ab'.repeat(20)}`

/** A word of 32 bytes. */
export const toWord = (value: number): string => `0x${value.toString(16).padStart(64, '0')}`

/** The topic 0 of all logs. */
export const burn = toWord(7)
