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
  return /^((net|web3|txpool|trace)_|eth_(acc|b|ch|co|cr|fe|ga|ha|m|pr|si[^g]|sy)|debug_(tr|acc|stor|db|du|int|pre|ex)|[^_]+_(get(?!FilterC)|call|estimate|is|has)(?![a-z]))/.test(
    method,
  )
}
