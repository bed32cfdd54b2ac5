const slots = 16_384

/** CRC16-CCITT (XMODEM) of each byte. */
const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021
  return crc
})

/** The part of a key that decides its slot: what is between the first `{` and the next `}`, unless that is empty. */
const getHashTag = (key: string): string => {
  const open = key.indexOf('{')
  const close = open === -1 ? -1 : key.indexOf('}', open + 1)
  return close > open + 1 ? key.slice(open + 1, close) : key
}

/**
 * The slot of a key in Redis Cluster.
 * @see https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#key-distribution-model
 * @example
 * getHashSlot('{user_1}rate') === getHashSlot('{user_1}quota')
 */
export const getHashSlot = (key: string): number => {
  let crc = 0
  for (const byte of Buffer.from(getHashTag(key))) crc = ((crc << 8) & 0xffff) ^ (table[(crc >> 8) ^ byte] ?? 0)
  return crc % slots
}
