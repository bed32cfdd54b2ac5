/**
 * Tells whether a method may be sent again when it is not known whether the first one arrived.
 * True for what only reads; false for what sends, signs, submits, changes the node, or consumes what it reads (`eth_getFilterChanges`),
 * and for every name that is not known to be a read.
 *
 * @param method - A JSON-RPC method.
 * @example
 * repeatable('eth_getBalance') // true
 * repeatable('eth_sendRawTransaction') // false
 */
export function repeatable(method: string): boolean {
  return /^((eth|net|web3|debug|trace|txpool)_(?!send|sign(?!ing)|submit|getFilterChanges|new|uninstall|(un)?subscribe|(set|start|stop|write|free|gc|chaindb|standard|cpu|mem|mutex|block|go)[A-Z_])|(?!anvil|evm|hardhat|personal|admin|wallet|miner|engine)[a-z\d]+_(get|estimate|is|has|call)(?![a-z]))/.test(
    method,
  )
}
