/**
 * Tells whether a method may be sent again when it is not known whether the first one arrived.
 * True for what only reads; false for what sends, signs, submits, changes the node, makes a filter, or consumes what it reads
 * (`eth_getFilterChanges`), and for every name that is not known to be a read. Of namespaces that are not known, reads are what is called
 * get…, call…, estimate…, is… or has….
 *
 * @param method - A JSON-RPC method.
 * @example
 * repeatable('eth_getBalance') // true
 * repeatable('eth_sendRawTransaction') // false
 */
export function repeatable(method: string): boolean {
  if (method !== last) {
    last = method
    answer = reads.test(method)
  }
  return answer
}

// Asked several times for each call, and mostly of the same method as before.
let last = ''
let answer = false

const reads =
  /^(net_|web3_|txpool_|trace_|eth_(a|b|c[^a]|f|ga|h|m|pro|s[iy][^g])|debug_([adeip]|tr|stora)|[^_]+_(get(?!FilterC)|call|estimate|is|has)(?![a-z]))/
