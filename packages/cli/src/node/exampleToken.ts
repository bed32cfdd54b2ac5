// keccak256('Transfer(address,address,uint256)')
const transferTopic = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** The initial balance of the token's creator. */
export const tokenSupply = 1_000_000

/*
 * The token, hand-written so that no compiler is needed. The storage slot of a balance is the holder's address.
 * On the right: what the bytes do, and the stack after them, with its top on the right.
 */
const runtime = [
  '5f3560e01c', //             selector := calldata[0..4]                      selector
  '8063a9059cbb14603b57', //   transfer(address,uint256)? go to 3b             selector
  '806370a0823114602557', //   balanceOf(address)? go to 25                    selector
  '6318160ddd14603057', //     totalSupply()? go to 30                         -
  '5f5ffd', //                 none of them: revert without data
  '5b60043554', //         25: balance := storage[account]                     balance
  '5f5260205ff3', //           return it
  '5b620f4240', //         30: the supply, 1,000,000                           supply
  '5f5260205ff3', //           return it
  '5b602435', //           3b: value := second argument                        value
  '3354', //                   balance := storage[caller]                      value balance
  '818110608657', //           balance < value? go to 86                       value balance
  '819003', //                 balance - value                                 value rest
  '3355', //                   storage[caller] := rest                         value
  '6004358054', //             to := first argument; its balance               value to balance
  '8201', //                   balance + value                                 value to sum
  '8155', //                   storage[to] := sum                              value to
  '905f52', //                 memory[0] := value                              to
  `337f${transferTopic}`, //   the caller, and the event's topic               to caller topic
  '60205fa3', //               log memory[0..32] with three topics             -
  '60015f5260205ff3', //       return true
  '5b63f4d678b85f526004601cfd', // 86: revert with InsufficientBalance()
].join('')

const runtimeLength = (runtime.length / 2).toString(16)

const constructor = [
  '620f4240803355', //         storage[caller] := supply                       supply
  '5f52', //                   memory[0] := supply                             -
  `335f7f${transferTopic}`, // to the caller, from address zero, the topic     to from topic
  '60205fa3', //               log memory[0..32] with three topics             -
  `60${runtimeLength}603a5f39`, // memory[0..] := the runtime, which starts at byte 3a here
  `60${runtimeLength}5ff3`, //     return it: it becomes the contract's code
].join('')

/**
 * The creation code of a minimal token: `transfer`, `balanceOf` and `totalSupply` of ERC-20 with its `Transfer` event,
 * and the custom error `InsufficientBalance()`. For reads, receipts, logs and reverts on a development node only.
 *
 * @see EIP-20
 */
export const tokenCode: `0x${string}` = `0x${constructor}${runtime}`

const word = (hex: string): string => hex.replace(/^0x/, '').padStart(64, '0')

/** The calldata of `transfer(to, value)`. */
export function transferCall(to: string, value: number): `0x${string}` {
  return `0xa9059cbb${word(to)}${word(value.toString(16))}`
}
