import { randomBytes } from 'node:crypto'

const shape = /^[A-Za-z0-9_-]{43}$/

/** Makes the secret of a session: 256 random bits. */
export const createSessionToken = (): string => randomBytes(32).toString('base64url')

/** Whether a text has the shape of a session's secret. */
export const isSessionToken = (text: string): boolean => shape.test(text)
