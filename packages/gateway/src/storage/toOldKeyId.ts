/**
 * Gets the id that calls with the old key of a rotation are counted for, which separates them from calls with the new key. Usage before the
 * rotation keeps the id of the key.
 */
export const toOldKeyId = (keyId: string): string => `${keyId}:old`
