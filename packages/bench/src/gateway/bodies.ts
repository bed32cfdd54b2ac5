const call = (id: number): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"eth_getBalance","params":["0x${id.toString(16).padStart(40, '0')}","latest"]}`
/** Single calls. No two in flight are equal: the service sends identical reads once, which the floor does not do. */
export const single = Array.from({ length: 256 }, (_, n) => call(n))
/** Batches of 100 calls. */
export const batch = Array.from({ length: 128 }, (_, n) => {
  const calls = Array.from({ length: 100 }, (_item, item) => call(n * 100 + item))
  return `[${calls.join(',')}]`
})
/** One call of each method, which is sent with every key. Both sides send identical reads in flight once. */
export const threeMethods = ['eth_getBalance', 'eth_getTransactionCount', 'eth_getCode'].map((method) =>
  call(1).replace('eth_getBalance', method),
)
