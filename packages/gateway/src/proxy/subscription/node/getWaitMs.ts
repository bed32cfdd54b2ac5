/**
 * Gets how long to wait before the next attempt: twice as long after each failure, and a random part of up to half less, so that the instances
 * of a service do not all reconnect to a node at the same moment.
 * @param failures - How many attempts in a row have failed, at least 1.
 */
export const getWaitMs = (
  failures: number,
  { firstMs, longestMs }: { readonly firstMs: number; readonly longestMs: number },
): number => Math.min(firstMs * 2 ** (failures - 1), longestMs) * (1 - Math.random() / 2)
